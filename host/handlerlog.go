package host

import (
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/process"
)

// log writes one line of the handler into the journal.
func (d *delivery) log(line call.Log) {
	size := len(line.Message)
	for _, f := range line.Fields {
		size += len(f.Key) + len(f.Value)
	}
	pass, cut := d.flood.Pass(int64(d.attempts), size)
	if !pass && !cut {
		return
	}
	rec := d.base
	rec.Kind, rec.Attempt = journal.HandlerLog, d.attempts
	rec.Level, rec.Message = line.Level.String(), line.Message
	if cut {
		rec.Level, rec.Message, line.Fields = call.Warning.String(), d.flood.Text("attempt"), nil
	}
	for _, f := range line.Fields {
		rec.Fields = append(rec.Fields, journal.Field{Key: f.Key, Value: f.Value})
	}
	d.f.gen.host.journal.Append(rec)
}

// outputOf returns what writes the lines of a handler program into the journal.
func (hs *handlers) outputOf(program string) func(process.Line) {
	var lines journal.Flood
	return func(line process.Line) {
		clock.Present(hs.clk) // time may not have moved since the last event
		rec := journal.Record{Kind: journal.HandlerLog, Name: program, Level: line.Level.String(), Message: line.Text}
		pass, cut := lines.Pass(hs.clk.Now().Unix()/60, len(line.Text))
		switch {
		case cut:
			rec.Level, rec.Message = call.Warning.String(), lines.Text("minute")
		case !pass:
			return
		}
		hs.journal.Append(rec)
	}
}

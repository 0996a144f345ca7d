package host

import (
	"fmt"
	"sync"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/process"
)

// The limits for a handler's own lines in the journal, so that they do not drive
// out everything else: in one attempt, and in one minute for lines that a handler
// program prints outside of attempts, or without naming one.
const (
	floodLines = 10_000
	floodBytes = 4 << 20
)

// flood counts log lines in spans: attempts, or minutes.
type flood struct {
	mu           sync.Mutex
	span         int64
	lines, bytes int
	cut          bool
}

// pass counts a line and reports whether the journal takes it; cut: it is the first
// one of its span that it does not.
func (f *flood) pass(span int64, size int) (pass, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if span != f.span {
		f.span, f.lines, f.bytes, f.cut = span, 0, 0, false
	}
	if f.cut {
		return false, false
	}
	f.lines++
	f.bytes += size
	f.cut = f.lines > floodLines || f.bytes > floodBytes
	return !f.cut, f.cut
}

// text stands in the place of the lines that are left out.
func (f *flood) text(of string) string {
	return fmt.Sprintf("more than %d lines, or %d MiB, in one %s: the rest of its log is left out", floodLines, floodBytes>>20, of)
}

// log writes one line of the handler into the journal.
func (d *delivery) log(line call.Log) {
	size := len(line.Message)
	for _, f := range line.Fields {
		size += len(f.Key) + len(f.Value)
	}
	pass, cut := d.flood.pass(int64(d.attempts), size)
	if !pass && !cut {
		return
	}
	rec := d.base
	rec.Kind, rec.Attempt = journal.HandlerLog, d.attempts
	if cut {
		rec.Level, rec.Message = levelName(call.Warning), d.flood.text("attempt")
		d.f.gen.host.journal.Append(rec)
		return
	}
	rec.Level, rec.Message = levelName(line.Level), line.Message
	for _, f := range line.Fields {
		rec.Fields = append(rec.Fields, journal.Field{Key: f.Key, Value: f.Value})
	}
	d.f.gen.host.journal.Append(rec)
}

// outputOf returns what writes the lines of a handler program into the journal.
func (hs *handlers) outputOf(program string) func(process.Line) {
	var lines flood
	return func(line process.Line) {
		rec := journal.Record{Kind: journal.HandlerLog, Name: program, Level: levelName(line.Level), Message: line.Text}
		pass, cut := lines.pass(hs.host.clk.Now().Unix()/60, len(line.Text))
		switch {
		case cut:
			rec.Level, rec.Message = levelName(call.Warning), lines.text("minute")
		case !pass:
			return
		}
		hs.host.journal.Append(rec)
	}
}

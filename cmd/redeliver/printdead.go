package main

import (
	"strconv"

	"github.com/redeliver/redeliver/host/journal"
)

// deadLetters joins two records of one event: the service dead-letters a message
// while a function has it in work, and then the delivery ends.
type deadLetters struct {
	work map[string]int            // deliveries in work by message
	dead map[string]journal.Record // of these
}

func newDeadLetters() deadLetters {
	return deadLetters{work: map[string]int{}, dead: map[string]journal.Record{}}
}

// begin takes up a delivery by a function.
func (d *deadLetters) begin(rec *journal.Record) {
	if rec.MessageID != "" && rec.Function != "" && len(d.work) < maxTimelines {
		d.work[rec.MessageID]++
	}
}

// hold keeps a dead letter whose delivery has still to end; it is false when there
// is none.
func (d *deadLetters) hold(rec *journal.Record) bool {
	if d.work[rec.MessageID] == 0 {
		return false
	}
	d.dead[rec.MessageID] = *rec
	return true
}

// end takes up the end of a delivery, and returns the dead letter that its message
// has become meanwhile, or nil.
func (d *deadLetters) end(rec *journal.Record) *journal.Record {
	if d.work[rec.MessageID] == 0 {
		return nil
	}
	if d.work[rec.MessageID]--; d.work[rec.MessageID] == 0 {
		delete(d.work, rec.MessageID)
	}
	dead, ok := d.dead[rec.MessageID]
	if !ok {
		return nil
	}
	delete(d.dead, rec.MessageID)
	return &dead
}

// deadLetterText says where a dead letter is and why.
func deadLetterText(rec *journal.Record) string {
	return join("to "+strconv.Quote(rec.Target), rec.Cause)
}

// sessionText names the session that a record is about, if it is about one.
func sessionText(rec *journal.Record) string {
	for _, f := range rec.Fields {
		if f.Key == "session" {
			return "session " + strconv.Quote(f.Value)
		}
	}
	return ""
}

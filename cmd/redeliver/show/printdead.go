package show

import (
	"strconv"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// deadLetters joins two records of one event: the service dead-letters a message
// while a function has it in work, and then the delivery ends.
type deadLetters struct {
	work map[explain.Identity]*inWork
}

// inWork are the deliveries of a message that have not ended. The handler may settle one
// while it runs, and then the next has begun before it ends: only the latest can have made
// the message a dead letter.
type inWork struct {
	n      int
	latest string
	dead   *journal.Record // whose delivery is the latest
}

func newDeadLetters() deadLetters { return deadLetters{work: map[explain.Identity]*inWork{}} }

// begin takes up a delivery by a function.
func (d *deadLetters) begin(rec *journal.Record) {
	if rec.MessageID == "" || rec.Function == "" {
		return
	}
	id := explain.IdentityOf(rec)
	if d.work[id] == nil {
		if len(d.work) >= maxTimelines {
			return
		}
		d.work[id] = &inWork{}
	}
	d.work[id].n++
	d.work[id].latest = rec.Delivery
}

// hold keeps a dead letter whose delivery has still to end; it is false when there
// is none.
func (d *deadLetters) hold(rec *journal.Record) bool {
	w := d.work[explain.IdentityOf(rec)]
	if w == nil {
		return false
	}
	dead := *rec
	w.dead = &dead
	return true
}

// end takes up the end of a delivery, and returns the dead letter that it has made of its
// message, or nil.
func (d *deadLetters) end(rec *journal.Record) *journal.Record {
	id := explain.IdentityOf(rec)
	w := d.work[id]
	if w == nil {
		return nil
	}
	if w.n--; w.n == 0 {
		delete(d.work, id)
	} else if rec.Delivery != w.latest {
		return nil
	}
	dead := w.dead
	w.dead = nil
	return dead
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

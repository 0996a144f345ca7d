package eventgrid

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/journal"
)

// timeLayout is how dead letters write times: UTC with seven digits of a second.
const timeLayout = "2006-01-02T15:04:05.0000000Z"

// writeDeadLetter writes the blob of an event that was given up. While the
// container cannot be written to it is tried again; after four hours the event is
// dropped.
func (g *Grid) writeDeadLetter(d *delivery) {
	_ = g.lock() // as in pump
	if d.state != writing {
		g.mu.Unlock()
		return // another state was loaded meanwhile
	}
	s := d.sub
	if s.place == "" { // its subscription has none any more
		records := g.dropLocked(d, d.reason)
		g.tell(records)
		return
	}
	now := g.now()
	name := fmt.Sprintf("%s/%d/%d/%d/%d/%s.json", s.upper, now.Year(), now.Month(), now.Day(), now.Hour(), g.ids.GUID().String())
	content := append(append([]byte{'['}, d.deadLetter().appendJSON(nil)...), ']')
	g.mu.Unlock()

	c, err := s.container(&g.opts)
	if err == nil {
		_, err = c.Blob(name).Put(g.ctx, bytes.NewReader(content), &blob.PutOptions{Headers: blob.Headers{ContentType: "application/json"}})
	}
	if g.ctx.Err() != nil {
		return
	}
	_ = g.lock() // as in pump
	var records []journal.Record
	switch {
	case d.state != writing: // its subscription is gone
	case err == nil:
		rec := d.record(journal.DeadLettered)
		rec.Cause, rec.Target = string(d.reason), s.place+"/"+name
		records = append(records, rec)
		g.forgetLocked(d)
	default:
		now := g.now()
		if d.until.IsZero() {
			d.until = now.Add(DeadLetterLimit)
		}
		if next := now.Add(DeadLetterRetry); !next.After(d.until) {
			d.state, d.when = dead, next
			g.pump.queue.push(d)
			g.writing.saveState(d)
			break
		}
		records = g.dropLocked(d, deadLetterContainerUnavailable)
		records[0].Error = err.Error()
	}
	g.pump.kick()
	g.tell(records)
}

// deadLetterMembers are what a dead letter has beside the event.
var deadLetterMembers = []string{"deadLetterReason", "deliveryAttempts", "lastDeliveryOutcome", "lastHttpStatusCode", "publishTime", "lastDeliveryAttemptTime"} // read only

// deadLetterMember is the name of such a member: attributes of CloudEvents are in lower
// case.
func deadLetterMember(name string, schema Schema) string {
	if schema == CloudEventSchema {
		return fold(name)
	}
	return name
}

// deadLetter is the event with what became of it.
func (d *delivery) deadLetter() *Event {
	var more []member
	add := func(i int, raw []byte) {
		more = append(more, member{deadLetterMember(deadLetterMembers[i], d.event.schema), raw})
	}
	add(0, quote(string(d.reason)))
	add(1, strconv.AppendInt(nil, int64(len(d.attempts)), 10))
	add(2, quote(string(d.outcome)))
	if d.status != 0 {
		add(3, strconv.AppendInt(nil, int64(d.status), 10))
	}
	add(4, quote(d.published.Format(timeLayout)))
	if n := len(d.attempts); n > 0 {
		add(5, quote(d.attempts[n-1].Time.Format(timeLayout)))
	}
	return d.event.with(more...)
}

// String is for diagnostics.
func (d *delivery) String() string {
	return fmt.Sprintf("event %q at %s, %d attempts, next %s", d.event.ID, d.sub.source(), len(d.attempts), d.when.Format(time.RFC3339))
}

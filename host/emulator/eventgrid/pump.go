package eventgrid

import (
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/journal"
)

// queue is the deliveries for which something is to be done, soonest first, and
// in order of publication at one time.
type queue struct{ heap heap.Of[*delivery] }

func newQueue() queue {
	return queue{heap.New(func(a, b *delivery) bool {
		if !a.when.Equal(b.when) {
			return a.when.Before(b.when)
		}
		return a.number < b.number
	}, func(d *delivery) *int { return &d.inQueue })}
}

// push adds a delivery, or moves it to where its time puts it.
func (q *queue) push(d *delivery) {
	if d.inQueue > 0 {
		q.heap.Fix(d)
		return
	}
	q.heap.Push(d)
}

func (q *queue) remove(d *delivery) { q.heap.Remove(d) }

// first returns the delivery that comes first; nil when there is none.
func (q *queue) first() *delivery {
	d, _ := q.heap.Min()
	return d
}

// kickLocked sees to it that the pump looks at the queue.
func (g *Grid) kickLocked() {
	switch {
	case g.pumping:
		g.changed.Signal()
	case g.queue.heap.Len() > 0 && g.ctx.Err() == nil && !g.held:
		g.pumping = true
		g.group.Go("event grid", g.pump)
	}
}

// pump makes the requests that are due, and waits for the next time. It ends
// when nothing waits. Somebody waits for each of its times, so virtual time
// moves to them.
func (g *Grid) pump() {
	_ = g.lock() // what cannot be read again is said by the next call that can say it
	defer g.mu.Unlock()
	for g.ctx.Err() == nil && !g.held {
		d := g.queue.first()
		if d == nil {
			break
		}
		if now := g.now(); !d.when.After(now) {
			if records := g.roundLocked(now); len(records) > 0 || g.writing.Written() {
				g.tell(records)
				_ = g.lock()
			}
			continue
		}
		if g.changed.WaitUntil(g.ctx, d.when) != nil {
			break
		}
	}
	g.pumping = false
}

// roundLocked does everything that is due at now.
func (g *Grid) roundLocked(now time.Time) (records []journal.Record) {
	var requests []*request
	open := map[batchKey]*request{} // of subscriptions with batches
	for d := g.queue.first(); d != nil && !d.when.After(now); d = g.queue.first() {
		switch {
		case d.state == dead:
			g.queue.remove(d)
			d.state = writing
			g.group.Go("dead letter of "+d.sub.source(), func() { g.writeDeadLetter(d) })
		case d.state == expiring, now.After(d.expires):
			g.queue.remove(d)
			records = append(records, g.giveUpLocked(d, TimeToLiveExceeded, now)...)
		case g.rules.Probation && d.sub.endpoint.until.After(now):
			d.outcome = Probation
			d.sub.endpoint.park(d)
			g.waitLocked(d, d.sub.endpoint.until)
			rec := d.record(journal.EventDelayed)
			rec.Status, rec.Delay, rec.HasDelay = string(Probation), d.when.Sub(now), true
			records = append(records, rec)
		default:
			g.queue.remove(d)
			d.sub.endpoint.unpark(d)
			d.state = sending
			d.attempts = append(d.attempts, Attempt{Time: now})
			requests = addTo(requests, open, d, now)
		}
	}
	g.postLocked(requests)
	return records
}

// postLocked puts requests behind the ones that are still to be made.
func (g *Grid) postLocked(requests []*request) {
	if g.sent > len(g.outbox)/2 {
		left := copy(g.outbox, g.outbox[g.sent:])
		clear(g.outbox[left:])
		g.outbox, g.sent = g.outbox[:left], 0
	}
	g.outbox = append(g.outbox, requests...)
	g.sendLocked()
}

// turnRequests is how many requests a sender makes before it lets another go on, so
// that it does not keep everybody else from their turns.
const turnRequests = 64

// sendLocked has a goroutine make the next waiting request.
func (g *Grid) sendLocked() {
	if !g.standby && g.sent < len(g.outbox) {
		g.standby = true
		g.group.Go("event grid request", g.sender)
	}
}

// sender makes requests that wait. Before each it has another goroutine stand by
// for the next request, because the answer of an endpoint may take long. So
// requests do not wait for one another, and endpoints that answer at once keep no
// more than two goroutines busy.
func (g *Grid) sender() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.standby = false
	for range turnRequests {
		if g.sent == len(g.outbox) || g.ctx.Err() != nil {
			g.outbox, g.sent = nil, 0
			return
		}
		r := g.outbox[g.sent]
		g.outbox[g.sent] = nil
		g.sent++
		g.sendLocked()
		if !r.wanted() {
			continue
		}
		g.mu.Unlock()
		g.send(r)
		g.mu.Lock()
	}
	g.sendLocked()
}

// wanted reports whether a request still has an event: subscriptions go, and with
// them their events.
func (r *request) wanted() bool {
	return slices.ContainsFunc(r.deliveries, func(d *delivery) bool { return d.state == sending })
}

// batchKey holds the properties that the events of one request share.
type batchKey struct {
	sub     *subscription
	schema  Schema
	attempt int
}

// addTo puts a delivery into a request that has room, or into a new one.
func addTo(requests []*request, open map[batchKey]*request, d *delivery, now time.Time) []*request {
	n := len(d.attempts)
	if d.sub.batch == 0 {
		r := &request{sub: d.sub, attempt: n, sent: now}
		r.one[0] = d
		r.deliveries = r.one[:]
		return append(requests, r)
	}
	key := batchKey{d.sub, d.event.schema, n}
	size := len(d.event.object())
	r := open[key]
	if r == nil || len(r.deliveries) == d.sub.batch || r.size+size > d.sub.size {
		r = &request{sub: d.sub, attempt: n, sent: now}
		open[key] = r
		requests = append(requests, r)
	}
	r.deliveries = append(r.deliveries, d)
	r.size += size
	return requests
}

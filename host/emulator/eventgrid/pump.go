package eventgrid

import (
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/clock"
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

// wait puts a delivery into the queue for its next attempt at t, or for the end of its life
// when that comes first.
func (q *queue) wait(d *delivery, t time.Time) {
	d.state, d.when = waiting, t
	if t.After(d.expires) {
		d.state, d.when = expiring, d.expires
	}
	q.push(d)
}

// pump does what is due: it makes requests, acts on their answers, and has dead letters
// written. The Grid's mutex guards it.
type pump struct {
	grid    *Grid
	changed *clock.Cond // queue
	queue   queue       // deliveries that wait
	pumping bool
	held    bool // nothing is sent before Configure

	outbox  []*request // to be made; the first sent of them are
	sent    int
	standby bool // the next is about to be made
}

func newPump(g *Grid) pump {
	return pump{grid: g, changed: clock.NewCond(g.clk, &g.mu), queue: newQueue()}
}

// kick sees to it that the pump looks at the queue.
func (p *pump) kick() {
	switch {
	case p.pumping:
		p.changed.Signal()
	case p.queue.heap.Len() > 0 && p.grid.ctx.Err() == nil && !p.held:
		p.pumping = true
		p.grid.group.Go("event grid", p.run)
	}
}

// run makes the requests that are due, and waits for the next time. It ends
// when nothing waits. Somebody waits for each of its times, so virtual time
// moves to them.
func (p *pump) run() {
	_ = p.grid.lock() // what cannot be read again is said by the next call that can say it
	defer p.grid.mu.Unlock()
	for p.grid.ctx.Err() == nil && !p.held {
		d := p.queue.first()
		if d == nil {
			break
		}
		if now := p.grid.now(); !d.when.After(now) {
			if records := p.round(now); len(records) > 0 || p.grid.writing.Written() {
				p.grid.tell(records)
				_ = p.grid.lock()
			}
			continue
		}
		if p.changed.WaitUntil(p.grid.ctx, d.when) != nil {
			break
		}
	}
	p.pumping = false
}

// round does everything that is due at now.
func (p *pump) round(now time.Time) (records []journal.Record) {
	var requests []*request
	open := map[batchKey]*request{} // of subscriptions with batches
	for d := p.queue.first(); d != nil && !d.when.After(now); d = p.queue.first() {
		switch {
		case d.state == dead:
			p.queue.remove(d)
			d.state = writing
			p.grid.group.Go("dead letter of "+d.sub.source(), func() { p.grid.writeDeadLetter(d) })
		case d.state == expiring, now.After(d.expires):
			p.queue.remove(d)
			records = append(records, p.grid.giveUpLocked(d, TimeToLiveExceeded, now)...)
		case p.grid.rules.Probation && d.sub.endpoint.until.After(now):
			d.outcome = Probation
			d.sub.endpoint.park(d)
			p.queue.wait(d, d.sub.endpoint.until)
			rec := d.record(journal.EventDelayed)
			rec.Status, rec.Delay, rec.HasDelay = string(Probation), d.when.Sub(now), true
			records = append(records, rec)
		default:
			p.queue.remove(d)
			d.sub.endpoint.unpark(d)
			d.state = sending
			d.attempts = append(d.attempts, Attempt{Time: now})
			requests = addTo(requests, open, d, now)
		}
	}
	p.post(requests)
	return records
}

// post puts requests behind the ones that are still to be made.
func (p *pump) post(requests []*request) {
	if p.sent > len(p.outbox)/2 {
		left := copy(p.outbox, p.outbox[p.sent:])
		clear(p.outbox[left:])
		p.outbox, p.sent = p.outbox[:left], 0
	}
	p.outbox = append(p.outbox, requests...)
	p.sendNext()
}

// turnRequests is how many requests a sender makes before it lets another go on, so
// that it does not keep everybody else from their turns.
const turnRequests = 64

// sendNext has a goroutine make the next waiting request.
func (p *pump) sendNext() {
	if !p.standby && p.sent < len(p.outbox) {
		p.standby = true
		p.grid.group.Go("event grid request", p.sender)
	}
}

// sender makes requests that wait. Before each it has another goroutine stand by
// for the next request, because the answer of an endpoint may take long. So
// requests do not wait for one another, and endpoints that answer at once keep no
// more than two goroutines busy.
func (p *pump) sender() {
	p.grid.mu.Lock()
	defer p.grid.mu.Unlock()
	p.standby = false
	for range turnRequests {
		if p.sent == len(p.outbox) || p.grid.ctx.Err() != nil {
			p.outbox, p.sent = nil, 0
			return
		}
		r := p.outbox[p.sent]
		p.outbox[p.sent] = nil
		p.sent++
		p.sendNext()
		if !r.wanted() {
			continue
		}
		p.grid.mu.Unlock()
		p.send(r)
		p.grid.mu.Lock()
	}
	p.sendNext()
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

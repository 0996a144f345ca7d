package eventgrid

import (
	"container/heap"
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// queue is the deliveries for which something is to be done, soonest first, and
// in order of publication at one time.
type queue struct{ heap deliveries }

type deliveries []*delivery

func (h deliveries) Len() int { return len(h) }
func (h deliveries) Less(i, j int) bool {
	if !h[i].when.Equal(h[j].when) {
		return h[i].when.Before(h[j].when)
	}
	return h[i].number < h[j].number
}
func (h deliveries) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *deliveries) Push(x any) {
	d := x.(*delivery)
	d.index = len(*h)
	*h = append(*h, d)
}

// Pop implements heap.Interface.
func (h *deliveries) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	d.index = -1
	return d
}

// push adds a delivery, or moves it to where its time puts it.
func (q *queue) push(d *delivery) {
	if d.index >= 0 {
		heap.Fix(&q.heap, d.index)
		return
	}
	heap.Push(&q.heap, d)
}

func (q *queue) remove(d *delivery) {
	if d.index >= 0 {
		heap.Remove(&q.heap, d.index)
	}
}

// first returns the delivery that comes first; nil when there is none.
func (q *queue) first() *delivery {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

// kickLocked sees to it that the pump looks at the queue.
func (g *Grid) kickLocked() {
	switch {
	case g.pumping:
		g.changed.Signal()
	case len(g.queue.heap) > 0 && g.ctx.Err() == nil && !g.held:
		g.pumping = true
		g.group.Go("event grid", g.pump)
	}
}

// pump does what is due, and waits for what is due next. It ends when nothing
// waits. Somebody waits for each of its times, so virtual time moves to them.
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
		default:
			g.queue.remove(d)
			d.sub.endpoint.unpark(d)
			d.state = sending
			d.attempts = append(d.attempts, Attempt{Time: now})
			requests = addTo(requests, open, d, now)
		}
	}
	for _, r := range requests {
		g.group.Go("event grid request", func() { g.send(r) })
	}
	return records
}

// batchKey is what the events of one request share.
type batchKey struct {
	sub     *subscription
	attempt int
}

// addTo puts a delivery into a request that has room, or into a new one.
func addTo(requests []*request, open map[batchKey]*request, d *delivery, now time.Time) []*request {
	n := len(d.attempts)
	if d.sub.batch == 0 {
		return append(requests, &request{sub: d.sub, deliveries: []*delivery{d}, attempt: n, sent: now})
	}
	key := batchKey{d.sub, n}
	size := len(d.event.appendJSON(nil))
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

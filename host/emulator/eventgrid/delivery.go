package eventgrid

import (
	"strconv"
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// delivery is one event at one subscription, from its publication until it is
// delivered or given up. It is guarded by the Grid's mutex.
type delivery struct {
	number    uint64
	sub       *subscription
	event     *Event // in the schema of delivery
	published time.Time
	expires   time.Time

	state   stage
	due     time.Time // of the next attempt, by the schedule
	when    time.Time // something is to be done: the attempt, the end of its life, the write
	inQueue int       // its place; 0: not in it

	attempts []Attempt
	skipped  int     // retries that were left out
	outcome  Outcome // of the last attempt, or Probation
	status   int     // of HTTP; 0: none

	reason Reason    // why it was given up
	until  time.Time // its dead letter is tried; zero: not tried yet
	parked int       // its place, from 1, among what waits for the end of a probation; 0: it does not
}

// Attempt is one request that an event was part of.
type Attempt struct {
	Time    time.Time `json:"time"`             // it was sent
	Outcome Outcome   `json:"outcome"`          // empty while it is out
	Status  int       `json:"status,omitempty"` // of HTTP; 0: no answer
}

// stage is where a delivery is.
type stage int

const (
	waiting   stage = iota // for its next attempt
	sending                // a request is out
	expiring               // for the end of its life: the next attempt would be later
	dead                   // given up; waits for its dead letter to be written
	writing                // the dead letter is being written
	over                   // delivered, written, dropped or forgotten
	unwritten              // published, and not known to be on disk: invisible
)

// admitLocked makes a delivery whose first attempt is due now, once enqueueLocked
// has put it into the queue.
func (g *Grid) admitLocked(s *subscription, e *Event, now time.Time) *delivery {
	g.number++
	d := &delivery{number: g.number, sub: s, event: e, published: now, expires: now.Add(s.ttl), due: now, when: now, state: unwritten}
	g.live[d.number] = d
	g.writing.saveEvent(d)
	return d
}

// enqueueLocked begins with deliveries that have been written, unless their
// subscriptions are gone.
func (g *Grid) enqueueLocked(made []*delivery) {
	for _, d := range made {
		if d.state == unwritten {
			d.state = waiting
			g.pump.queue.push(d)
		}
	}
	g.pump.kick()
}

// withdraw takes back deliveries that could not be written.
func (st *state) withdraw(made []*delivery) {
	for _, d := range made {
		if d.state == unwritten {
			d.state = over
			delete(st.live, d.number)
		}
	}
}

// forgetLocked ends a delivery.
func (g *Grid) forgetLocked(d *delivery) {
	d.state = over
	g.pump.queue.remove(d)
	d.sub.endpoint.unpark(d)
	delete(g.live, d.number)
	g.writing.unsaveDelivery(d)
}

// request is one request that is out, with the deliveries in it.
type request struct {
	sub        *subscription
	deliveries []*delivery
	one        [1]*delivery // in which a single one is kept
	attempt    int          // of them all, from 1
	size       int
	sent       time.Time
	overdue    bool // the response limit has passed
}

// send makes the request and acts on the answer. It runs in a goroutine of its
// own.
func (p *pump) send(r *request) {
	if p.leftOut(r) {
		return
	}
	timer := p.grid.clk.AfterFunc(ResponseLimit, "response limit of "+r.sub.source(), func() { p.overdue(r) })
	res := p.deliver(r)
	timer.Stop()
	if p.grid.ctx.Err() != nil {
		return // its text is unknown now
	}
	p.answered(r, res)
}

// notification is the request as the endpoint sees it.
func (s *subscription) notification(r *request) *Request {
	first := r.deliveries[0].event
	out := &Request{
		Type: Notification, Subscription: s.upper, Source: s.source(), Numbers: numbersOf(r.deliveries), DeliveryCount: r.attempt - 1, Extra: s.DeliveryHeaders,
		DataVersion: first.dataVersion, MetadataVersion: first.metadataVersion,
	}
	// An event keeps the schema in which it was taken when its subscription changes.
	switch {
	case first.schema != CloudEventSchema:
		out.ContentType = "application/json; charset=utf-8"
	case s.batch > 0:
		out.ContentType = "application/cloudevents-batch+json; charset=utf-8"
	default:
		out.ContentType = "application/cloudevents+json; charset=utf-8"
		out.Body = first.object()
		return out
	}
	if len(r.deliveries) == 1 {
		out.Body = first.array
		return out
	}
	out.Body = append(make([]byte, 0, r.size+len(r.deliveries)+1), '[')
	for i, d := range r.deliveries {
		if i > 0 {
			out.Body = append(out.Body, ',')
		}
		out.Body = append(out.Body, d.event.object()...)
	}
	out.Body = append(out.Body, ']')
	return out
}

// numbersOf are those by which the journal tells events of one id apart.
func numbersOf(deliveries []*delivery) []int64 {
	list := make([]int64, len(deliveries))
	for i, d := range deliveries {
		list[i] = int64(d.number)
	}
	return list
}

// overdue is called when the response limit of a request has passed: the request
// counts as failed, though its answer may still come.
func (p *pump) overdue(r *request) {
	_ = p.grid.lock() // what cannot be read again is said by the next call that can say it
	var records []journal.Record
	if !r.overdue {
		r.overdue = true
		records = p.grid.settleLocked(r, result{0, TimedOut})
	}
	p.grid.tell(records)
}

// tell ends what an operation does by itself: it writes, and then tells. After a
// failed write the state is as before: the event is sent again after a restart.
func (g *Grid) tell(records []journal.Record) {
	_ = g.unlock(g.ctx)
	g.opts.record(records)
}

// answered acts on an answer, or on the lack of one.
func (p *pump) answered(r *request, res result) {
	_ = p.grid.lock() // as in overdue
	var records []journal.Record
	if r.overdue {
		records = p.grid.lateLocked(r, res)
	} else {
		r.overdue = true // a timer that fires this moment is too late
		records = p.grid.settleLocked(r, res)
	}
	p.grid.tell(records)
}

// settleLocked decides for each delivery of a request what comes next. A batch
// succeeds or fails as a whole.
func (g *Grid) settleLocked(r *request, res result) (records []journal.Record) {
	r.sub.endpoint.learn(g, res.outcome)
	now := g.now()
	for _, d := range r.deliveries {
		if d.state != sending {
			continue // its subscription is gone
		}
		d.outcome, d.status = res.outcome, res.status
		last := &d.attempts[len(d.attempts)-1]
		last.Outcome, last.Status = res.outcome, res.status
		rec := d.record(journal.EventAttempted)
		rec.Function = d.sub.Function
		rec.DeliveryCount, rec.Status = int64(r.attempt), string(res.outcome)
		if res.status != 0 {
			rec.Fields = []journal.Field{{Key: "http_status", Value: strconv.Itoa(res.status)}}
		}
		if res.outcome == Delivered {
			records = append(records, rec)
			g.forgetLocked(d)
			continue
		}
		reason, wait := g.afterLocked(d, res)
		if reason == "" {
			rec.Delay, rec.HasDelay = wait, true
		}
		records = append(records, rec)
		if reason != "" {
			records = append(records, g.giveUpLocked(d, reason, now)...)
		}
	}
	g.pump.kick()
	return records
}

// afterLocked returns the consequence of a failed attempt: the reason to give the
// event up at once, or the wait until the next attempt. TTL is looked at when the
// next attempt is due; when that would be after its end, the event is given up at
// its end.
func (g *Grid) afterLocked(d *delivery, res result) (Reason, time.Duration) {
	function := d.sub.Function != ""
	switch n := len(d.attempts); {
	case g.rules.Schedule.final(res, function, d.sub.place != ""):
		return UndeliverableDueToClientError, 0
	case n >= d.sub.attempts:
		return MaxDeliveryAttemptsExceeded, 0
	default:
		wait := g.rules.Schedule.next(n+d.skipped, res, function, g.rules.JitterPercent, chance(g.opts.Seed, d.number, n+d.skipped))
		d.state, d.due = waiting, g.now().Add(wait)
		g.pump.queue.wait(d, d.due)
		g.writing.saveState(d)
		return "", wait
	}
}

// giveUpLocked ends the attempts: the event goes to the place of dead letters, five
// minutes after the last attempt, or is dropped.
func (g *Grid) giveUpLocked(d *delivery, reason Reason, now time.Time) []journal.Record {
	d.reason = reason
	d.sub.endpoint.unpark(d)
	if d.sub.place == "" {
		return g.dropLocked(d, reason)
	}
	d.state, d.when = dead, now
	if n := len(d.attempts); n > 0 {
		if t := d.attempts[n-1].Time.Add(DeadLetterDelay); t.After(now) {
			d.when = t
		}
	}
	g.pump.queue.push(d)
	g.writing.saveState(d)
	return nil
}

func (g *Grid) dropLocked(d *delivery, reason Reason) []journal.Record {
	g.forgetLocked(d)
	rec := d.record(journal.EventDropped)
	rec.Cause = string(reason)
	return []journal.Record{rec}
}

// lateLocked acts on an answer after the response limit: a success within three
// minutes of the request cancels a retry that has not been sent.
func (g *Grid) lateLocked(r *request, res result) (records []journal.Record) {
	if res.outcome != Delivered || g.now().Sub(r.sent) > LateLimit {
		return nil
	}
	r.sub.endpoint.learn(g, Delivered)
	for _, d := range r.deliveries {
		if d.state != waiting && d.state != expiring {
			continue
		}
		rec := d.record(journal.EventAttempted)
		rec.Function = d.sub.Function
		rec.DeliveryCount, rec.Status, rec.Message = int64(r.attempt), string(Delivered), "answered late"
		rec.Fields = []journal.Field{{Key: "http_status", Value: strconv.Itoa(res.status)}}
		records = append(records, rec)
		g.forgetLocked(d)
	}
	g.pump.kick()
	return records
}

// record holds the fields that all records of a delivery share.
func (d *delivery) record(kind journal.Kind) journal.Record {
	return journal.Record{Kind: kind, Service: journal.EventGrid, Source: d.sub.source(), MessageID: d.event.ID, MessageNumber: int64(d.number), DeliveryCount: int64(len(d.attempts))}
}

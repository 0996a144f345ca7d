package eventgrid

import (
	"errors"
	"strconv"

	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// A FaultPoint is a moment at which a delivery can be made to fail.
type FaultPoint struct {
	// Op is "Deliver", a request to the endpoint, or "Retry", a request that is not the
	// first of its events.
	Op string
	// Subscription is topic/subscription.
	Subscription string
	// EventID is of the first event of the request.
	EventID string
	// After says that the endpoint has answered.
	After bool
}

// Answered, as the fault of a delivery, is the answer of the endpoint: before the request
// in its place, after it instead of the true one.
type Answered struct {
	// Status is of HTTP.
	Status int
}

// Error is the status.
func (a Answered) Error() string { return "answered with status " + strconv.Itoa(a.Status) }

// fault asks for the fault of a request.
func (o *Options) fault(r *request, op string, after bool) error {
	if o.Fault == nil {
		return nil
	}
	return o.Fault(FaultPoint{Op: op, Subscription: r.sub.source(), EventID: r.deliveries[0].event.ID, After: after})
}

// deliver makes the request, unless a fault takes its place.
func (p *pump) deliver(r *request) result {
	if err := p.grid.opts.fault(r, "Deliver", false); err != nil {
		return faulty(err)
	}
	resp, err := r.sub.endpoint.Deliver(p.grid.ctx, r.sub.notification(r))
	if fault := p.grid.opts.fault(r, "Deliver", true); fault != nil {
		return faulty(fault)
	}
	return resultOf(resp, err)
}

// faulty is the result that a fault stands for. A request without an effect that succeeds
// nevertheless was answered, and reached nobody.
func faulty(err error) result {
	if a, ok := errors.AsType[Answered](err); ok {
		return result{a.Status, outcomeOf(a.Status)}
	}
	if errors.Is(err, keep.ErrNoEffect) {
		return resultOf(&Response{Status: 200}, nil)
	}
	return result{0, outcomeOfError(err)}
}

// leftOut reports whether a retry is left out, as the platform does with single ones: the
// next one comes by the next step of the schedule. It is no attempt.
func (p *pump) leftOut(r *request) bool {
	if r.attempt == 1 || !errors.Is(p.grid.opts.fault(r, "Retry", false), keep.ErrNoEffect) {
		return false
	}
	_ = p.grid.lock() // as in overdue
	var records []journal.Record
	for _, d := range r.deliveries {
		if d.state != sending {
			continue // its subscription is gone
		}
		d.attempts = d.attempts[:len(d.attempts)-1]
		d.skipped++
		_, wait := p.grid.afterLocked(d, result{d.status, d.outcome})
		rec := d.record(journal.EventDelayed)
		rec.Function = d.sub.Function
		rec.Status, rec.Delay, rec.HasDelay = leftOutStatus, wait, true
		records = append(records, rec)
	}
	p.kick()
	p.grid.tell(records)
	return true
}

// leftOutStatus is the status of a retry that was left out, in the journal.
const leftOutStatus = "RetryLeftOut"

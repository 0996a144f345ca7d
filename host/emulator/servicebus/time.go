package servicebus

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/journal"
)

// pullWindow is how long after a receive expired messages still leave by
// themselves (spec messaging 1.5).
const pullWindow = time.Minute

// tick does what is due in a queue, in order of time: locks end, and scheduled
// messages become active.
func (q *queue) tick(op *operation) {
	for q.gone == nil {
		at, do := q.due()
		if do == nil || at.After(op.now) {
			return
		}
		do(op)
	}
}

// due returns the next event that happens in a queue without a call, nil when there
// is none.
func (q *queue) due() (at time.Time, do func(*operation)) {
	sooner := func(t time.Time) bool { return do == nil || t.Before(at) }
	for i := range q.locks {
		if m, ok := q.locks[i].Min(); ok && sooner(m.until) {
			at, do = m.until, func(op *operation) { q.lapse(op, m) }
		}
		if s, ok := q.sessions.locks[i].Min(); ok && sooner(s.until) {
			at, do = s.until, func(op *operation) { s.unlock(op, true) }
		}
	}
	if m, ok := q.scheduled.Min(); ok && sooner(m.content.ScheduledEnqueueTime) {
		at, do = m.content.ScheduledEnqueueTime, func(op *operation) { q.activate(op, m) }
	}
	return at, do
}

// activate makes a scheduled message one that arrives now, under a new number.
func (q *queue) activate(op *operation, m *message) {
	q.remove(op, m)
	q.owner.enter(op, m.content, past{hops: m.hops, was: was{q.name, m.seq}})
}

// arm sees to it that the timer runs when something is due. It may run too soon,
// and then is set anew: locks that are settled in time cost no timer.
func (q *queue) arm(now time.Time) {
	if q.gone != nil {
		q.disarm()
		return
	}
	at, do := q.due()
	if m, ok := q.expiry.Min(); ok && q.pulledAt(m.expires) && (do == nil || m.expires.Before(at)) {
		at, do = m.expires, q.sweepDue
	}
	if do == nil || !q.armed.IsZero() && !q.armed.After(at) {
		return
	}
	q.armed = at
	if q.timer == nil {
		q.timer = q.ns.clk.AfterFunc(max(at.Sub(now), 0), "times of "+q.name, q.fire)
		return
	}
	q.timer.Reset(max(at.Sub(now), 0))
}

// pulledAt reports whether a receiver waits for messages, or did in the minute
// before t.
func (q *queue) pulledAt(t time.Time) bool {
	return q.waiters+q.sessionWaiters > 0 || !q.pulled.IsZero() && !t.After(q.pulled.Add(pullWindow))
}

// sweepDue is sweep without being a pull.
func (q *queue) sweepDue(op *operation) {
	for m, ok := q.expiry.Min(); ok && m.expired(op.now) && q.pulledAt(m.expires); m, ok = q.expiry.Min() {
		q.expire(op, m)
	}
}

// fire is the timer's function.
func (q *queue) fire() {
	op := operations.Get().(*operation)
	defer operations.Put(op)
	if err := op.begin(q.ns); err == nil && q.gone == nil {
		q.armed = time.Time{}
		q.tick(op)
		if q.gone == nil {
			q.sweepDue(op)
		}
		op.touch(q)
	}
	// A change that could not be written is undone by the next call, which says so.
	_ = op.finish(context.Background())
}

func (q *queue) disarm() {
	if q.timer != nil {
		q.timer.Stop()
	}
	q.justifyUntil(time.Time{}, time.Time{})
}

// justify gives virtual time a reason to move to the next moment at which a waiting
// receiver gets something: a lock that is held inside ends, or a scheduled message
// becomes active. The end of a lock of a client in real time is not waited for; it
// is served on the way.
//
// The reason is a context with that deadline, without waiters: it can be taken back
// without waking a goroutine.
func (q *queue) justify(now time.Time) {
	var at time.Time
	consider := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if q.waiters > 0 {
		if m, ok := q.locks[0].Min(); ok {
			consider(m.until)
		}
		if s, ok := q.sessions.busy.Min(); ok {
			consider(s.until)
		}
	}
	if m, ok := q.scheduled.Min(); ok && q.owner.awaited(0) {
		consider(m.content.ScheduledEnqueueTime)
	}
	q.justifyUntil(at, now)
}

func (q *queue) justifyUntil(at, now time.Time) {
	if q.reason.Equal(at) {
		return
	}
	if q.cancelReason != nil {
		q.cancelReason()
		q.cancelReason = nil
	}
	q.reason = at
	if !at.IsZero() {
		_, q.cancelReason = q.ns.clk.WithTimeout(context.Background(), at.Sub(now))
	}
}

// awaited reports whether a receiver waits for messages of an entity.
func (e *entity) awaited(hops int) bool {
	if hops > e.ns.opts.MaxForwardHops {
		return false
	}
	for _, s := range e.subscriptions {
		if s.awaited(hops) {
			return true
		}
	}
	if e.main.waiters+e.main.sessionWaiters > 0 {
		return true
	}
	target := e.ns.entities[lower(e.forwardTo)]
	return target != nil && target.awaited(hops+1)
}

// waiting counts receivers that begin or end to wait, and looks again for what time
// may move.
func (q *queue) waiting(op *operation, n *int, by int) {
	*n += by
	q.owner.use(op)
	op.touch(q)
	if first := *n == max(by, 0); first && q.main() {
		q.owner.touchFeeders(op, 0)
	}
}

// touchFeeders touches the entities whose messages come to e.
func (e *entity) touchFeeders(op *operation, hops int) {
	if hops > e.ns.opts.MaxForwardHops {
		return
	}
	if e.parent != nil {
		op.touch(e.parent.main)
		e.parent.touchFeeders(op, hops)
	}
	for _, f := range e.ns.feeders[e.key] {
		op.touch(f.main)
		f.touchFeeders(op, hops+1)
	}
}

// watchIdle deletes an entity that was unused for as long as it allows.
func (e *entity) watchIdle(now time.Time) {
	if e.idleTimer != nil {
		e.idleTimer.Stop()
		e.idleTimer = nil
	}
	if e.idle == 0 {
		return
	}
	e.idleTimer = e.ns.clk.AfterFunc(max(e.lastUse().Add(e.idle).Sub(now), 0), "idle time of "+e.name(), e.whenIdle)
}

func (e *entity) lastUse() time.Time {
	last := e.updated
	for _, t := range []time.Time{e.accessed, e.created, e.busyAt} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// busy reports whether the entity is in use without calls: a receiver waits
// or holds a lock, a message waits for its time, or messages are sent on,
// which counts as receiving them. A topic is as long as one of its
// subscriptions is.
//
// Source: docs, message-expiration.md, temporary entities.
func (e *entity) busy() bool {
	if e.forwardTo != "" || slices.ContainsFunc(e.subscriptions, (*entity).busy) {
		return true
	}
	return slices.ContainsFunc(e.queues(), func(q *queue) bool {
		locked := len(q.tokens) + q.sessions.locks[0].Len() + q.sessions.locks[1].Len()
		return q.waiters+q.sessionWaiters+locked+q.scheduled.Len() > 0
	})
}

func (e *entity) whenIdle() {
	op := operations.Get().(*operation)
	defer operations.Put(op)
	if err := op.begin(e.ns); err == nil && e.main.gone == nil {
		if e.busy() {
			e.busyAt = op.now
		}
		if e.lastUse().Add(e.idle).After(op.now) {
			e.watchIdle(op.now)
		} else {
			op.note(journal.Record{Kind: journal.Expired, Source: e.name(), Cause: "autoDeleteOnIdle"})
			e.drop(op)
		}
	}
	_ = op.finish(context.Background()) // as in fire
}

// end makes everybody who uses the queue fail: its entity was deleted, or the state
// that it belongs to is void.
func (q *queue) end(why error) {
	q.gone = why
	q.unpinAll()
	q.arrived.Broadcast()
	q.ended.Broadcast()
	for _, id := range slices.Sorted(maps.Keys(q.sessions.byID)) {
		q.sessions.byID[id].changed.Broadcast()
	}
	q.disarm()
}

func notFound(e *entity) error { return messaging.NewEntityNotFound(e.name()) }

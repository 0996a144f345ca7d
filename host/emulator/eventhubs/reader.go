package eventhubs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// reader is a handle on one partition. Guarded by the namespace's mutex.
type reader struct {
	ns      *Namespace
	hub     string
	id      string
	group   string
	name    string
	level   *int64 // owner level; nil: none
	outside bool
	epoch   *epoch.Epoch // the epoch of the reader's holder; nil: it does not end

	p    *partition
	next int64 // sequence number of the next event
	end  error // why it cannot go on
}

var _ eventhubs.Reader = (*reader)(nil)

// ReadEvents implements eventhubs.Namespace.
func (ns *Namespace) ReadEvents(ctx context.Context, hub, group, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (eventhubs.Reader, error) {
	r := &reader{ns: ns, hub: hub, id: partition, group: group}
	if opts != nil {
		r.name, r.level, r.outside = opts.Name, opts.OwnerLevel, opts.RealTime
	}
	if group == "" {
		return nil, refuse(messaging.ConditionArgumentError, "event hub %q: a consumer group is needed", hub)
	}
	if err := ns.use(ctx, hub, group); err != nil {
		return nil, err
	}
	err := ns.operate(ctx, FaultPoint{Op: "ReadEvents", Hub: hub}, func(op *operation) error {
		p, err := ns.inGroup(hub, group, partition)
		if err != nil {
			return err
		}
		p.trim(op)
		if r.next, err = p.seek(from); err != nil {
			return err
		}
		if err := p.admit(r); err != nil {
			return err
		}
		r.p = p
		p.readers = append(p.readers, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// admit lets a reader in, beside the present ones or in their place.
func (p *partition) admit(r *reader) error {
	plain := 0
	for _, other := range p.readers {
		switch {
		case !strings.EqualFold(other.group, r.group):
		case other.level == nil:
			plain++
		case r.level == nil:
			return refuse(messaging.ConditionLinkStolen, "At least one receiver for the endpoint is created with epoch of '%d', and so non-epoch receiver is not allowed: %s", *other.level, p.source(r.group))
		case *r.level < *other.level:
			return refuse(messaging.ConditionLinkStolen, "Receiver '%s' with a higher epoch '%d' already exists. Receiver '%s' with epoch %d cannot be created. Make sure you are creating receiver with increasing epoch value to ensure connectivity, or ensure all old epoch receivers are closed or disconnected. %s", other.name, *other.level, r.name, *r.level, p.source(r.group))
		}
	}
	if r.level == nil {
		if plain >= eventhubs.MaxReaders {
			return refuse(messaging.ConditionResourceLimitExceeded, "%s has %d receivers, the maximum", p.source(r.group), plain)
		}
		return nil
	}
	p.readers = slices.DeleteFunc(p.readers, func(other *reader) bool {
		if !strings.EqualFold(other.group, r.group) {
			return false
		}
		other.end = refuse(messaging.ConditionLinkStolen, "New receiver '%s' with higher epoch of '%d' is created hence current receiver '%s' is getting disconnected: %s", r.name, *r.level, other.name, p.source(r.group))
		return true
	})
	p.arrived.Broadcast()
	return nil
}

func (p *partition) source(group string) string {
	return eventhubs.Source(p.hub.Name, group, p.id)
}

// Receive implements eventhubs.Reader.
func (r *reader) Receive(ctx context.Context, n int, wait time.Duration) (list []*eventhubs.ReceivedEvent, err error) {
	if n < 1 {
		return nil, refuse(messaging.ConditionArgumentOutOfRange, "number of events %d: want 1 or more", n)
	}
	err = r.epoch.During(func() error {
		list, err = r.receiveNow(ctx, n, wait)
		return err
	})
	return list, err
}

// receiveNow is Receive in any epoch, between the fault points.
func (r *reader) receiveNow(ctx context.Context, n int, wait time.Duration) (list []*eventhubs.ReceivedEvent, err error) {
	p := FaultPoint{Op: "Receive", Hub: r.hub}
	err = r.ns.kept.Operate(ctx, false, func(after bool) error { p.After = after; return r.ns.fault(p) }, func() (err error) {
		list, err = r.receive(ctx, n, wait)
		return err
	})
	return list, err
}

func (r *reader) receive(ctx context.Context, n int, wait time.Duration) ([]*eventhubs.ReceivedEvent, error) {
	var end time.Time
	if wait > 0 {
		end = r.ns.now().Add(wait)
	}
	for {
		op, err := r.ns.begin()
		before := r.next
		var list []*eventhubs.ReceivedEvent
		if err == nil {
			err = ctx.Err() // a caller that was woken and has given up since takes nothing
		}
		if err == nil {
			list, err = r.take(op, n)
		}
		over := err != nil || len(list) > 0 || wait == 0 || wait > 0 && !r.ns.now().Before(end)
		if !over && !op.Written() {
			// Nothing is to be written, and the lock is held: nothing is missed.
			if r.outside {
				err = r.p.arrived.IdleUntil(ctx, end)
			} else {
				err = r.p.arrived.WaitUntil(ctx, end)
			}
		}
		if finishErr := op.finish(ctx); finishErr != nil && !keep.Tolerable(finishErr) {
			err = finishErr
			r.stepBack(before) // the taken events were not delivered
		}
		if over || err != nil {
			return list, err
		}
	}
}

// stepBack makes the reader go on from there at most.
func (r *reader) stepBack(to int64) {
	r.ns.mu.Lock()
	defer r.ns.mu.Unlock()
	r.next = min(r.next, to)
}

// take returns what there is now.
func (r *reader) take(op *operation, n int) ([]*eventhubs.ReceivedEvent, error) {
	switch {
	case r.end != nil:
		return nil, r.end
	case r.p.hub.gone != nil:
		return nil, r.p.hub.gone
	}
	p := r.p
	p.trim(op)
	r.next = min(max(r.next, p.first()), p.next)
	list := p.events[r.next-p.first():]
	list = list[:min(n, len(list))]
	out := make([]*eventhubs.ReceivedEvent, len(list))
	for i, e := range list {
		own := *e
		out[i] = &own
	}
	r.next += int64(len(list))
	return out, nil
}

// Close implements eventhubs.Reader.
func (r *reader) Close(context.Context) error {
	r.ns.mu.Lock()
	defer r.ns.mu.Unlock()
	if r.end == nil {
		r.end = fmt.Errorf("reader of %s: %w", r.p.source(r.group), messaging.ErrClosed)
	}
	r.p.readers = slices.DeleteFunc(r.p.readers, func(other *reader) bool { return other == r })
	r.p.arrived.Broadcast()
	return nil
}

// Lost waits until the reader cannot go on and returns why; nil after Close. It is
// for servers, whose clients are told at once.
func (r *reader) Lost(ctx context.Context) error {
	r.ns.mu.Lock()
	defer r.ns.mu.Unlock()
	for r.end == nil && r.p.hub.gone == nil {
		if err := r.p.arrived.Wait(ctx); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(r.end, messaging.ErrClosed):
		return nil
	case r.end != nil:
		return r.end
	}
	return r.p.hub.gone
}

package cosmosdb

import (
	"context"
	"errors"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Notes of settlements.
const (
	// NoteStopped: the host stopped while the batch was in work. It comes again.
	NoteStopped = "stopped before the checkpoint"
	// NoteLeaseLost: another host has the range now, and runs the batch again.
	NoteLeaseLost = "lease lost"
)

// A pump reads one range for as long as this listener has its lease, and delivers what changed.
//
// Source: src/ChangeFeedProcessor/FeedManagement/PartitionSupervisorCore.cs and
// FeedProcessing/FeedProcessorCore.cs.
type pump struct {
	*run
	id      string // of the lease
	rangeID string
	at      cosmos.Position

	taking context.Context // ends with the run's, and with the lease
	token  context.Context // of deliveries: ends with a stop that is no drain, and with the lease
	recall triggers.Recall
	lost   func()

	mu      sync.Mutex
	wake    *clock.Cond
	changed bool // since the last look
	isLost  bool
}

func newPump(r *run, l *lease) *pump {
	p := &pump{run: r, id: l.ID, rangeID: l.LeaseToken}
	p.wake = clock.NewCond(r.clk, &p.mu)
	p.at = cosmos.Position{Continuation: l.continuation()}
	if p.at.Continuation == "" && !r.opts.StartFromBeginning {
		p.at.Time, p.at.Now = r.opts.StartTime, r.opts.StartTime.IsZero()
	}
	return p
}

// read reads the range until the lease is lost or no more is taken, and gives the
// lease back.
func (p *pump) read() {
	var endTaking, endToken context.CancelFunc
	p.taking, endTaking = p.clk.WithCancel(p.run.taking)
	p.token, endToken = p.clk.WithCancel(p.tokens)
	defer endTaking()
	defer endToken()
	p.lost = func() {
		p.mu.Lock()
		p.isLost = true
		p.mu.Unlock()
		endTaking()
		endToken()
		p.recall.End()
	}
	if watcher, ok := p.feed.(cosmos.Watcher); ok && p.opts.WakeUp {
		defer watcher.Watch(p.rangeID, p.look)()
	}
	renewing, stop := p.clk.WithCancel(context.Background())
	renewals := clock.NewGroup(p.clk, 0)
	renewals.Go("renewal of "+p.id, func() { p.renew(renewing) })
	if err := p.poll(); err != nil {
		p.decide(p.id, err)
	}
	stop()
	renewals.Wait()
	if !p.hasLost() {
		// Without this others would wait for the end of the lease.
		_ = p.store.release(context.WithoutCancel(p.tokens), p.id)
	}
}

func (p *pump) hasLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isLost
}

// look says that the range has changed.
func (p *pump) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = true
	p.wake.Broadcast()
}

// renew keeps the lease, the first time after half an interval. Trouble that may
// pass is waited out: the lease lasts longer than one interval.
//
// Source: src/ChangeFeedProcessor/FeedManagement/LeaseRenewerCore.cs.
func (p *pump) renew(ctx context.Context) {
	for wait := p.opts.RenewInterval / 2; p.clk.Idle(ctx, wait) == nil; wait = p.opts.RenewInterval {
		if err := p.store.renew(ctx, p.id); errors.Is(err, errLeaseLost) {
			p.lost()
			return
		}
	}
}

// poll reads the feed, at once again while there is something, else after the poll
// delay. It returns nil when no more is taken.
func (p *pump) poll() error {
	for {
		if _, err := p.sink.Gate().Admit(p.taking, 1); err != nil {
			if p.taking.Err() != nil {
				return nil
			}
			return err
		}
		p.mu.Lock()
		p.changed = false
		p.mu.Unlock()
		page, err := p.feed.Changes(p.taking, p.rangeID, p.at, p.opts.MaxItems)
		if err == nil {
			p.over(failedPart{p.id, false})
		}
		if err == nil && len(page.Items) > 0 && p.taking.Err() == nil {
			if p.deliver(page) {
				continue
			}
		} else {
			p.sink.Gate().Unused(1)
			if err == nil {
				err = p.begin(page.Continuation)
			}
			if p.taking.Err() != nil {
				return nil
			}
			if err != nil && !errors.Is(err, bindings.ErrUnavailable) {
				return err
			}
		}
		if !p.wait() {
			return nil
		}
	}
}

// begin writes the position down at which a range without one was begun, so that
// "now" is the time of the first start and not of a later one.
func (p *pump) begin(continuation string) error {
	if p.at.Continuation != "" {
		return nil
	}
	err := p.store.checkpoint(p.taking, p.id, "", continuation)
	if errors.Is(err, errLeaseLost) {
		p.lost()
		return nil
	}
	if err == nil {
		p.at = cosmos.Position{Continuation: continuation}
	}
	return err
}

// wait waits for the next look; false: there is none. Time does not jump for an
// empty range.
func (p *pump) wait() bool {
	until := p.clk.Now().Add(p.opts.FeedPollDelay)
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.changed && p.clk.Now().Before(until) {
		if p.wake.IdleUntil(p.taking, until) != nil {
			return false
		}
	}
	return p.taking.Err() == nil
}

// deliver runs a batch through the function and moves the position on. It reports
// whether that was done.
func (p *pump) deliver(page cosmos.Changes) bool {
	ev := &triggers.Event{Source: p.monitored.String(), Messages: []triggers.Message{messageOf(page.Items)}, Recall: &p.recall}
	p.count(1)
	defer p.count(-1)
	res := p.sink.Handle(p.token, ev)
	s := p.settle(page.Continuation, res.Cancelled)
	p.sink.Settled(ev, s)
	return s.Decision == triggers.Checkpointed
}

// settle writes the position into the lease, also after a failure: a failure
// is lost when its policy is (spec messaging 7). Only a batch whose token has ended
// comes again, or one that was cut short when a drain took too long.
func (p *pump) settle(continuation string, cut bool) triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.NotCheckpointed, Target: p.id}
	if cut || p.token.Err() != nil {
		if s.Note = NoteStopped; p.hasLost() {
			s.Note = NoteLeaseLost
		}
		return s
	}
	err := p.store.checkpoint(context.WithoutCancel(p.token), p.id, p.at.Continuation, continuation)
	switch {
	case err == nil:
		p.at = cosmos.Position{Continuation: continuation}
		s.Decision, s.Note = triggers.Checkpointed, "continuation "+continuation
		p.opts.Written(p.id, continuation)
	case errors.Is(err, errLeaseLost):
		p.lost()
		s.Note = NoteLeaseLost
	default:
		s.Err = err
	}
	return s
}

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

// worker reads one range for as long as this listener has its lease.
//
// Source: src/ChangeFeedProcessor/FeedManagement/PartitionSupervisorCore.cs and
// FeedProcessing/FeedProcessorCore.cs.
type worker struct {
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

func newWorker(r *run, l *lease) *worker {
	w := &worker{run: r, id: l.ID, rangeID: l.LeaseToken}
	w.wake = clock.NewCond(r.clk, &w.mu)
	w.at = cosmos.Position{Continuation: l.continuation()}
	if w.at.Continuation == "" && !r.opts.StartFromBeginning {
		w.at.Time, w.at.Now = r.opts.StartTime, r.opts.StartTime.IsZero()
	}
	return w
}

// read reads the range until the lease is lost or no more is taken, and gives the
// lease back.
func (w *worker) read() {
	var endTaking, endToken context.CancelFunc
	w.taking, endTaking = w.clk.WithCancel(w.run.taking)
	w.token, endToken = w.clk.WithCancel(w.tokens)
	defer endTaking()
	defer endToken()
	w.lost = func() {
		w.mu.Lock()
		w.isLost = true
		w.mu.Unlock()
		endTaking()
		endToken()
		w.recall.End()
	}
	if watcher, ok := w.feed.(cosmos.Watcher); ok && w.opts.WakeUp {
		defer watcher.Watch(w.rangeID, w.look)()
	}
	renewing, stop := w.clk.WithCancel(context.Background())
	renewals := clock.NewGroup(w.clk, 0)
	renewals.Go("renewal of "+w.id, func() { w.renew(renewing) })
	if err := w.poll(); err != nil {
		w.decide(w.id, err)
	}
	stop()
	renewals.Wait()
	if !w.hasLost() {
		// Without this others would wait for the end of the lease.
		_ = w.store.release(context.WithoutCancel(w.tokens), w.id)
	}
}

func (w *worker) hasLost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isLost
}

// look says that the range has changed.
func (w *worker) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = true
	w.wake.Broadcast()
}

// renew keeps the lease, the first time after half an interval. Trouble that may
// pass is waited out: the lease lasts longer than one interval.
//
// Source: src/ChangeFeedProcessor/FeedManagement/LeaseRenewerCore.cs.
func (w *worker) renew(ctx context.Context) {
	for wait := w.opts.RenewInterval / 2; w.clk.Idle(ctx, wait) == nil; wait = w.opts.RenewInterval {
		if err := w.store.renew(ctx, w.id); errors.Is(err, errLeaseLost) {
			w.lost()
			return
		}
	}
}

// poll reads the feed, at once again while there is something, else after the poll
// delay. It returns nil when no more is taken.
func (w *worker) poll() error {
	for {
		if _, err := w.sink.Gate().Admit(w.taking, 1); err != nil {
			if w.taking.Err() != nil {
				return nil
			}
			return err
		}
		w.mu.Lock()
		w.changed = false
		w.mu.Unlock()
		page, err := w.feed.Changes(w.taking, w.rangeID, w.at, w.opts.MaxItems)
		if err == nil {
			w.over(trouble{w.id, false})
		}
		if err == nil && len(page.Items) > 0 && w.taking.Err() == nil {
			if w.deliver(page) {
				continue
			}
		} else {
			w.sink.Gate().Unused(1)
			if err == nil {
				err = w.begin(page.Continuation)
			}
			if w.taking.Err() != nil {
				return nil
			}
			if err != nil && !errors.Is(err, bindings.ErrUnavailable) {
				return err
			}
		}
		if !w.wait() {
			return nil
		}
	}
}

// begin writes the position down at which a range without one was begun, so that
// "now" is the time of the first start and not of a later one.
func (w *worker) begin(continuation string) error {
	if w.at.Continuation != "" {
		return nil
	}
	err := w.store.checkpoint(w.taking, w.id, "", continuation)
	if errors.Is(err, errLeaseLost) {
		w.lost()
		return nil
	}
	if err == nil {
		w.at = cosmos.Position{Continuation: continuation}
	}
	return err
}

// wait waits for the next look; false: there is none. Time does not jump for an
// empty range.
func (w *worker) wait() bool {
	until := w.clk.Now().Add(w.opts.FeedPollDelay)
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.changed && w.clk.Now().Before(until) {
		if w.wake.IdleUntil(w.taking, until) != nil {
			return false
		}
	}
	return w.taking.Err() == nil
}

// deliver runs a batch through the function and moves the position on. It reports
// whether that was done.
func (w *worker) deliver(page cosmos.Changes) bool {
	ev := &triggers.Event{Source: w.monitored.String(), Messages: []triggers.Message{messageOf(page.Items)}, Recall: &w.recall}
	w.count(1)
	defer w.count(-1)
	res := w.sink.Handle(w.token, ev)
	s := w.settle(page.Continuation, res.Cancelled)
	w.sink.Settled(ev, s)
	return s.Decision == triggers.Checkpointed
}

// settle writes the position into the lease, also after a failure: a failure
// is lost when its policy is (spec messaging 7). Only a batch whose token has ended
// comes again, or one that was cut short when a drain took too long.
func (w *worker) settle(continuation string, cut bool) triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.NotCheckpointed, Target: w.id}
	if cut || w.token.Err() != nil {
		if s.Note = NoteStopped; w.hasLost() {
			s.Note = NoteLeaseLost
		}
		return s
	}
	err := w.store.checkpoint(context.WithoutCancel(w.token), w.id, w.at.Continuation, continuation)
	switch {
	case err == nil:
		w.at = cosmos.Position{Continuation: continuation}
		s.Decision, s.Note = triggers.Checkpointed, "continuation "+continuation
		w.opts.Written(w.id, continuation)
	case errors.Is(err, errLeaseLost):
		w.lost()
		s.Note = NoteLeaseLost
	default:
		s.Err = err
	}
	return s
}

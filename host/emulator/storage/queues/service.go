package queues

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	queueapi "github.com/redeliver/redeliver/bindings/queue"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Foresee is the operation with which a listener asks whether it may leave out polls of a
// queue that has nothing to deliver.
const Foresee = "Foresee"

// Service is the queue service of one storage account, empty when new. All methods may be
// called concurrently; on a virtual clock, from inside the clock.
//
// It implements queue.Account, queue.Admin, queue.Waker and queue.Foresight.
type Service struct {
	account.Image[queuesState]

	clk  clock.Clock
	opts *account.Options

	mu         sync.Mutex
	ids        seeded.Series
	queues     map[string]*queueState
	properties storage.ServiceProperties // of the queue service
	arrivals   wakers
	changes    wakers
	left       map[string]time.Time // for LeftInWork; nil until a state was taken
	kept       *keep.Keeper
}

var (
	_ account.Service    = (*Service)(nil)
	_ queueapi.Account   = (*Service)(nil)
	_ queueapi.Waker     = (*Service)(nil)
	_ queueapi.Foresight = (*Service)(nil)
	_ queueapi.Heir      = (*Service)(nil)
)

// New returns a service without queues that takes its time from clk. Opts may be
// nil; the service keeps them.
func New(clk clock.Clock, opts *account.Options) *Service {
	if opts == nil {
		opts = &account.Options{}
	}
	s := &Service{clk: clk, opts: opts, queues: map[string]*queueState{}, arrivals: wakers{}, changes: wakers{}}
	s.ids.Seed = opts.Seed
	s.Image = account.NewImage(clk, &s.mu, s.kind())
	s.kept = s.Keeper()
	return s
}

// Queue returns a handle on the queue of that name.
func (s *Service) Queue(name string) queueapi.Queue { return s.queue(name) }

// QueueIn returns a handle that ends with an epoch.
func (s *Service) QueueIn(e *epoch.Epoch, name string) queueapi.Queue {
	q := s.queue(name)
	q.epoch = e
	return q
}

func (s *Service) queue(name string) *queue {
	return &queue{s: s, name: name, nameErr: queueapi.ValidateName(name)}
}

// Queues lists the names of all queues, sorted.
func (s *Service) Queues(ctx context.Context) ([]string, error) {
	var names []string
	err := s.operate(ctx, account.FaultPoint{Op: "Queues"}, func(*change) { names = slices.Sorted(maps.Keys(s.queues)) })
	if err != nil {
		return nil, err
	}
	return names, nil
}

// now returns the time as it is stored: in UTC, comparable as a plain value.
func (s *Service) now() time.Time { return s.clk.Now().UTC().Round(0) }

// effects are what an operation tells others once the lock is released, and
// what it writes through before it tells anybody.
type effects struct {
	queue   string
	records []journal.Record
	arrived bool
	moved   bool // a message is visible at another time
	change
}

func (e *effects) note(kind journal.Kind, m *message) {
	e.records = append(e.records, journal.Record{Kind: kind, Service: journal.Queues, Source: e.queue, MessageID: m.id.String(), DeliveryCount: int64(m.count)})
}

func (s *Service) publish(e *effects) {
	if s.opts.Record != nil {
		for _, r := range e.records {
			s.opts.Record(r)
		}
	}
	if e.arrived {
		s.wakeAll(s.arrivals, e.queue)
	}
	if e.moved {
		s.wakeAll(s.changes, e.queue)
	}
}

// reads are the operations that change nothing but what time has changed.
var reads = map[string]bool{"Exists": true, "Peek": true, "Count": true, "QueueCounts": true, "QueueMessage": true, "QueueMessages": true, "HiddenMessages": true, "QueueMetadata": true, "QueuePolicies": true} // read only

// operate runs f on a queue's state, in the epoch of the handle and between the fault
// points. State is nil when the queue does not exist and optional is set.
func (q *queue) operate(ctx context.Context, p account.FaultPoint, optional bool, f func(now time.Time, state *queueState, e *effects) error) error {
	return q.epoch.During(func() error { return q.operateNow(ctx, p, optional, f) })
}

func (q *queue) operateNow(ctx context.Context, p account.FaultPoint, optional bool, f func(now time.Time, state *queueState, e *effects) error) error {
	if q.nameErr != nil {
		return q.nameErr
	}
	p.Queue = q.name
	return q.s.kept.Operate(ctx, false, q.s.opts.Points(p), func() error {
		e := &effects{queue: q.name, change: change{q.s.kept.Change()}}
		if p.Op == "Put" {
			if err := q.s.kept.Writable(); err != nil {
				return fmt.Errorf("queue %q: %w", q.name, err)
			}
		}
		commit, writeErr, err := q.locked(optional, e, f)
		if reads[p.Op] && keep.Tolerable(writeErr) {
			writeErr, e.records = nil, nil
		}
		if writeErr == nil {
			writeErr = q.s.kept.Wait(ctx, commit)
		}
		if writeErr != nil {
			return fmt.Errorf("queue %q: %w", q.name, writeErr) // nothing has happened
		}
		q.s.publish(e)
		if err != nil {
			return fmt.Errorf("queue %q: %w", q.name, err)
		}
		return nil
	})
}

// locked returns a commit to wait for, even when f fails: expired messages are
// gone. writeErr is why it cannot be written, err is the error of f.
func (q *queue) locked(optional bool, e *effects, f func(now time.Time, state *queueState, e *effects) error) (commit keep.Awaited, writeErr, err error) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if err := q.s.kept.Ready(); err != nil {
		return keep.Awaited{}, err, nil
	}
	now := q.s.now()
	state := q.s.queues[q.name]
	if state == nil && !optional {
		return keep.Awaited{}, nil, bindings.ErrNotFound
	}
	if state != nil {
		e.expire(state, now)
	}
	err = f(now, state, e)
	if state = q.s.queues[q.name]; state != nil {
		q.s.awaitExpiryLocked(q.name, state, now)
	}
	commit, writeErr = q.s.kept.Begin(&e.Change)
	return commit, writeErr, err
}

package blob

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/hostlock"
	"github.com/redeliver/redeliver/triggers/queue"
)

// Account is a storage account, as a connection gives it.
type Account struct {
	// Name tells accounts of one host apart.
	Name string
	// Endpoint is the address of its blob service, for the metadata "Uri".
	Endpoint string

	Blobs  blob.Account
	Queues queueapi.Account // nil: the host's own takes the poison messages
}

// Function is one function with a blob trigger.
type Function struct {
	// ID is the function's full name, app.FunctionID: part of its receipts, so
	// that a renamed function starts over.
	ID string
	// Pattern says which blobs it is for.
	Pattern *blob.Pattern
	// Account is where they are.
	Account Account
	// EventGrid says that Event Grid tells of blobs (source EventGrid): nothing is
	// scanned, see [Shared.Queue].
	EventGrid bool
	// Deferred is the name of the connection for functions that open the blob
	// themselves: the value is model binding data. Empty: it is the content.
	Deferred string
	// Platform says that the properties of a blob have the platform's form, see
	// [Function.Message].
	Platform bool
}

// Options are host.json's extensions.blobs, and what the host lends. The zero
// Options, like nil, are good for use.
type Options struct {
	// Functions are the IDs of all functions that are going to listen. A control
	// message for one that has not begun yet waits for it; one for a function that
	// is not among them is deleted, as on the platform.
	Functions []string

	// MaxDegreeOfParallelism is the number of blobs in work at once, 1 or more.
	// Zero: blob.DefaultParallelism.
	MaxDegreeOfParallelism int

	// PoisonBlobThreshold is the number of deliveries after which a failing blob
	// is poison. Zero:
	// queue.DefaultMaxDequeueCount.
	PoisonBlobThreshold int

	// ScanInterval is the time between two passes over a container. Zero: 2 s, as
	// on development storage.
	ScanInterval time.Duration

	// Lease, Retry, Owner and Reclaim belong to the lock on scanning:
	// hostlock.Options.
	Lease, Retry time.Duration
	Owner        string
	Reclaim      bool

	// Renewed is queue.Options.Renewed for the messages of the control queue.
	Renewed func(m *queueapi.Message)

	// Rand is the jitter of the control queue's polling series: queue.Options.
	Rand func() float64

	// Watcher ends the wait for a control message that this host adds, and tells
	// of poison messages. Nil: one of its own.
	Watcher *queue.Watcher

	// WakeUp lets services tell of changes, where they can (blob.Waker,
	// queue.Waker): the switch wakeUp = fast. Otherwise blobs are found by
	// scanning, and control messages of other hosts by polling.
	WakeUp bool
}

// Shared is the common part of a host's blob functions: the scanner, and the
// reader of the control queue. It runs while one of its listeners does. Its
// methods may be called concurrently.
type Shared struct {
	clk    clock.Clock
	hostID string
	opts   Options

	host Account

	mu      sync.Mutex
	changed *clock.Cond     // members, core
	names   map[string]bool // IDs of the functions that listen, or will
	members []*member
	core    *core           // nil: nothing runs
	reader  *queue.Listener // of the last core
}

// member is a function whose listener runs.
type member struct {
	f     *Function
	sink  triggers.Sink
	token context.Context // of its deliveries
}

// core is one run of scanner and reader.
type core struct {
	cancel  context.CancelFunc
	scanner *scanner
	busy    int   // deliveries in work
	err     error // the first failure
	done    bool  // nothing of it is in work
}

// NewShared returns the shared part of a host with that ID. The host's account
// holds receipts and control queue (S-14). Nil opts are the zero Options.
func NewShared(clk clock.Clock, host Account, hostID string, opts *Options) *Shared {
	s := &Shared{clk: clk, host: host, hostID: hostID, names: map[string]bool{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxDegreeOfParallelism == 0 {
		s.opts.MaxDegreeOfParallelism = blob.DefaultParallelism
	}
	if s.opts.ScanInterval == 0 {
		s.opts.ScanInterval = scanInterval
	}
	if s.opts.Watcher == nil {
		s.opts.Watcher = queue.NewWatcher()
	}
	for _, id := range s.opts.Functions {
		s.names[id] = true
	}
	s.changed = clock.NewCond(clk, &s.mu)
	return s
}

// Listener returns the listener of one function.
func (s *Shared) Listener(f *Function) *Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[f.ID] = true
	return &Listener{shared: s, f: f}
}

// Listener watches a container for one function. It implements
// [triggers.Listener]: each version of a blob that its pattern matches is a
// delivery. Listeners of one Shared stop together: when the context of one ends,
// nothing more is received for any of them.
type Listener struct {
	shared *Shared
	f      *Function
}

var _ triggers.Listener = (*Listener)(nil)

// Run implements [triggers.Listener]. It fails, as do all listeners of the
// Shared, when the control queue or the receipts cannot be used.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	s := l.shared
	token, cut := s.clk.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	m := &member{l.f, sink, token}
	s.enter(m)
	defer s.leave(m)
	cores := []*core{s.join(ctx, m)}
	err, busy := s.end(ctx, cores[0])
	for busy && sink.BeginAgain(ctx, err) == nil {
		c := s.join(ctx, m)
		cores = append(cores, c)
		err, busy = s.end(ctx, c)
	}
	if !s.done(ctx, cores) {
		if !sink.Draining() {
			cut()
		}
		s.done(context.WithoutCancel(ctx), cores)
	}
	return err
}

// enter adds a function, and leave takes it away.
func (s *Shared) enter(m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = append(s.members, m)
	s.changed.Broadcast()
}

func (s *Shared) leave(m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = slices.DeleteFunc(s.members, func(o *member) bool { return o == m })
}

// join lets the scanner find blobs for a function. It starts scanner and reader if there
// are none.
func (s *Shared) join(ctx context.Context, m *member) *core {
	s.mu.Lock()
	if s.core == nil {
		s.startLocked(ctx, m.sink)
	}
	c := s.core
	s.mu.Unlock()
	if !m.f.EventGrid {
		c.scanner.join(m.f)
	}
	return c
}

// end waits until a core takes no more, and returns why. Busy: it has failed, and has
// deliveries in work. Otherwise nothing of it is left, or ctx has ended.
func (s *Shared) end(ctx context.Context, c *core) (err error, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !c.done && (c.err == nil || c.busy == 0) {
		if s.changed.Wait(ctx) != nil {
			c.cancel()
			return nil, false
		}
	}
	return c.err, !c.done
}

// done waits until nothing of the cores is in work, and reports whether ctx let it.
func (s *Shared) done(ctx context.Context, cores []*core) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slices.ContainsFunc(cores, func(c *core) bool { return !c.done }) {
		if s.changed.Wait(ctx) != nil {
			return false
		}
	}
	return true
}

// over says that a core takes no more, and why: nil when it was stopped. All its parts
// end then, and who begins again has another core.
func (s *Shared) over(c *core, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	if s.core == c {
		s.core = nil
	}
	c.cancel()
	s.changed.Broadcast()
}

// count counts deliveries of a core.
func (s *Shared) count(c *core, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.busy += n
}

// startLocked starts scanner and reader.
func (s *Shared) startLocked(ctx context.Context, first triggers.Sink) {
	c := &core{}
	ctx, c.cancel = s.clk.WithCancel(ctx)
	name := ControlQueue(s.hostID)
	hosts := s.host.Blobs.Container(HostContainer)
	c.scanner = newScanner(s.clk, &executor{
		hostID: s.hostID,
		hosts:  hosts,
		queue:  s.host.Queues.Queue(name),
		queued: func() { s.opts.Watcher.Notify(name) },
	}, s.opts.WakeUp, s.opts.ScanInterval)
	batch, threshold := Concurrency(s.opts.MaxDegreeOfParallelism)
	reader := queue.New(s.clk, s.host.Queues, name, &queue.Options{
		BatchSize:         batch,
		NewBatchThreshold: threshold,
		MaxDequeueCount:   s.opts.PoisonBlobThreshold,
		DataType:          "binary",
		Rand:              s.opts.Rand,
		Renewed:           s.opts.Renewed,
		Watcher:           s.opts.Watcher,
		WakeUp:            s.opts.WakeUp,
		Poison:            s.poison,
		DropUndecodable:   true,
		Beside:            s.reader,
	})
	s.reader = reader
	r := &router{s: s, core: c, scanner: c.scanner, reader: reader, first: first, taking: ctx, routes: map[*triggers.Event]*route{}}
	work := clock.NewGroup(s.clk, 0)
	part := func(name string, run func() error) {
		work.Go(name, func() {
			s.over(c, run()) // one ends, all end
		})
	}
	lock := hostlock.New(s.clk, hosts, LockName(s.hostID), &hostlock.Options{
		Lease: s.opts.Lease, Retry: s.opts.Retry, Owner: s.opts.Owner, Reclaim: s.opts.Reclaim,
	})
	part("blob scanner", func() error { defer c.scanner.leave(); return c.scanner.run(ctx) })
	part("lock of the blob scanner", func() error { return lock.Keep(ctx, c.scanner.allow) })
	part("reader of "+name, func() error { return reader.Run(ctx, r) })
	s.core = c
	clock.NewGroup(s.clk, 0).Go("blob trigger", func() {
		work.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		c.done = true
		s.changed.Broadcast()
	})
}

// poison is where a control message that is given up goes: to the account of
// its blob, or the host's where that is not known.
func (s *Shared) poison(body []byte) (queueapi.Account, string) {
	if m, err := decodeControl(body); err == nil {
		if to := s.member(m.FunctionID); to != nil && to.f.Account.Queues != nil {
			return to.f.Account.Queues, PoisonQueue
		}
	}
	return s.host.Queues, PoisonQueue
}

// member returns the running function of that ID, or nil.
func (s *Shared) member(id string) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memberLocked(id)
}

func (s *Shared) memberLocked(id string) *member {
	for _, m := range s.members {
		if m.f.ID == id {
			return m
		}
	}
	return nil
}

// await returns the function of that ID once its listener runs; nil if it never
// will.
func (s *Shared) await(ctx context.Context, id string) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if m := s.memberLocked(id); m != nil || !s.names[id] {
			return m, nil
		}
		if err := s.changed.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// sole returns the function if there is only one, and nil otherwise.
func (s *Shared) sole() *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.names) > 1 || len(s.members) != 1 {
		return nil
	}
	return s.members[0]
}

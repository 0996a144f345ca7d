package queue

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

const (
	// DefaultMaxPollingInterval is the cap of the polling series while
	// developing, which here is always (storage.md S-9). The platform's default
	// elsewhere is a minute.
	DefaultMaxPollingInterval = 2 * time.Second

	lockDuration = 10 * time.Minute // from receive, and from each renewal
)

// Options are host.json's extensions.queues, the rest of the binding, and what
// the host lends. The zero Options, like nil, are the platform's defaults.
type Options struct {
	// BatchSize is the number of messages taken at once, 1 to 32. Zero:
	// queue.DefaultBatchSize.
	BatchSize int

	// NewBatchThreshold is the number of messages in work at or below which the
	// next batch is taken. Zero means zero, except when BatchSize is zero too:
	// then it is queue.DefaultNewBatchThreshold for the processors of this machine.
	NewBatchThreshold int

	// MaxPollingInterval caps the wait between polls. Zero:
	// DefaultMaxPollingInterval.
	MaxPollingInterval time.Duration

	// VisibilityTimeout keeps a message hidden after a failed delivery. Zero:
	// visible at once.
	VisibilityTimeout time.Duration

	// MaxDequeueCount is the number of deliveries after which a failing message
	// is poison. Zero: queue.DefaultMaxDequeueCount.
	MaxDequeueCount int

	// MessageEncoding says how bodies are written. Empty: base64.
	MessageEncoding queue.Encoding

	// DataType is the binding's dataType: "binary" or "stream" for bytes,
	// anything else for text.
	DataType string

	// TextMembers says that the members of a JSON body are metadata where the value is a
	// text only, as on the platform (host: WorkerFunctionInvoker.cs TransformInput): not
	// of bytes, nor of a deferred value.
	TextMembers bool

	// Deferred says that the value is the message as model binding data, in the place of
	// DataType.
	Deferred bool

	// Rand is the jitter of the polling series, uniform in [0, 1). Nil: none.
	Rand func() float64

	// Watcher ends waits for messages that this host itself adds. Nil: none do.
	Watcher *Watcher

	// WakeUp also ends them for messages from others, if the account can tell
	// (queue.Waker): the switch wakeUp = fast.
	WakeUp bool

	// Renewed, if not nil, is told of each renewal of the lock of a message in work.
	// It must not block.
	Renewed func(m *queue.Message)

	// Poison names the queue for messages with that body that are given up, and
	// its account, in place of the poison queue that goes by the queue's own name.
	// It is for queues that the host keeps for itself. Nil: the usual rule.
	Poison func(body []byte) (account queue.Account, queue string)

	// Beside is a listener on the same queue that has failed: its deliveries in work
	// count towards this one's limits. Nil: none.
	Beside *Listener

	// DropUndecodable deletes a message whose body is not what MessageEncoding
	// says, instead of moving it to the poison queue.
	DropUndecodable bool
}

// Listener watches one queue for one function. It implements
// [triggers.Listener]; a queue that does not exist is waited for.
//
// Each message is one delivery, and messages of a batch run concurrently. When
// Run's context ends, deliveries in work lose their token unless this is a drain;
// what is done to their messages afterwards is not cut short in either case.
type Listener struct {
	clk     clock.Clock
	account queue.Account
	queue   queue.Queue
	poison  string // empty: there is no poison queue
	opts    Options

	alarm     *alarm
	inFlight  *clock.Group
	places    *places         // that deliveries take, of NewBatchThreshold
	foresight queue.Foresight // nil: every poll is made

	mu       sync.Mutex
	back     time.Time // when a message is known to come back; zero: none is
	expected int       // calls of note
	stopped  bool      // it receives no more
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener for the queue of that name. Nil opts are the zero
// Options.
func New(clk clock.Clock, account queue.Account, queueName string, opts *Options) *Listener {
	l := &Listener{
		clk:      clk,
		account:  account,
		queue:    account.Queue(queueName),
		alarm:    newAlarm(clk),
		inFlight: clock.NewGroup(clk, 0),
		places:   newPlaces(clk),
	}
	l.poison, _ = queue.PoisonName(queueName)
	if opts != nil {
		l.opts = *opts
	}
	o := &l.opts
	if o.Beside != nil {
		l.places, o.Beside = o.Beside.places, nil
	}
	if o.BatchSize == 0 {
		o.BatchSize = queue.DefaultBatchSize
		if o.NewBatchThreshold == 0 {
			o.NewBatchThreshold = queue.DefaultNewBatchThreshold(o.BatchSize, runtime.NumCPU())
		}
	}
	if o.MaxPollingInterval == 0 {
		o.MaxPollingInterval = DefaultMaxPollingInterval
	}
	if o.MaxDequeueCount == 0 {
		o.MaxDequeueCount = queue.DefaultMaxDequeueCount
	}
	if o.Rand == nil {
		o.Rand = func() float64 { return 0.5 }
	}
	return l
}

// Run implements [triggers.Listener]. It fails with the first error of the
// service that is neither a missing queue nor a passing fault, after deliveries
// in work have ended.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	defer l.watch()()
	tokens, cancel := l.clk.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	err := l.poll(ctx, tokens, sink)
	for err != nil && l.inFlight.Len() > 0 && sink.BeginAgain(ctx, err) == nil {
		err = l.poll(ctx, tokens, sink)
	}
	if !sink.Replaced() {
		l.handOn()
	}
	// After an error the deliveries in work keep their token until the stop.
	if l.inFlight.Below(ctx, 1) != nil && !sink.Draining() {
		cancel()
	}
	l.inFlight.Wait()
	return ended(ctx, err)
}

// watch subscribes to all who know of new messages.
func (l *Listener) watch() (stop func()) {
	var stops []func()
	if l.opts.Watcher != nil {
		stops = append(stops, l.opts.Watcher.add(l.queue.Name(), &watch{wake: l.alarm.wake, back: l.note}))
	}
	if waker, ok := l.account.(queue.Waker); ok && l.opts.WakeUp {
		stops = append(stops, waker.OnArrival(l.queue.Name(), l.alarm.wake))
	}
	if foresight, ok := l.account.(queue.Foresight); ok {
		if stop, ok := foresight.OnVisibility(l.queue.Name(), l.alarm.poke); ok {
			l.foresight, stops = foresight, append(stops, stop)
		}
	}
	if heir, ok := l.account.(queue.Heir); ok {
		if t := heir.LeftInWork(l.queue.Name()); t.After(l.clk.Now()) {
			l.note(t) // of a host that was killed: they come back, and work waits for that
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// poll, the platform's word for it, takes messages of the one queue until ctx ends (nil) or the listener cannot go on.
func (l *Listener) poll(ctx, tokens context.Context, sink triggers.Sink) error {
	polls := polls{series: backoff{max: l.opts.MaxPollingInterval, rand: l.opts.Rand}}
	unsure, found := true, false // unsure whether the queue exists
	for {
		admitted, err := sink.Gate().Admit(ctx, l.opts.BatchSize)
		if err != nil {
			return ended(ctx, err)
		}
		l.alarm.clear()
		expected := l.expectedSoFar()
		batch, exists, err := l.receive(ctx, unsure, admitted)
		if ctx.Err() != nil {
			sink.Gate().Unused(admitted - len(batch))
			for _, m := range batch {
				l.inFlight.Go("late message of queue "+l.queue.Name(), func() { l.handBack(tokens, sink, m) })
			}
			return nil
		}
		sink.Gate().Unused(admitted - len(batch))
		if err != nil && !passing(err) {
			return err // which says which queue it is about
		}
		unsure = err != nil || !exists
		if len(batch) == 0 {
			if err == nil && exists {
				l.foundNothing(expected)
			}
			polls.made(l.clk.Now(), found)
			found = false
			foreseen := l.foresight != nil && err == nil
			next := func() (time.Time, bool) { return l.nextPoll(&polls, foreseen) }
			// While the service does not answer it is unknown what comes back.
			matters := func() bool { return err == nil && l.expecting() }
			if err := l.alarm.wait(ctx, next, matters); err != nil {
				return ended(ctx, err)
			}
			continue
		}
		found = true
		for _, m := range batch {
			l.places.take(1)
			l.inFlight.Go("message of queue "+l.queue.Name(), func() {
				defer l.places.take(-1)
				l.deliver(tokens, sink, m)
			})
		}
		if err := l.places.below(ctx, l.opts.NewBatchThreshold+1); err != nil {
			return ended(ctx, err)
		}
	}
}

// Aside runs wait, the wait of a delivery in work for something that others need not
// wait for, and lets the listener receive meanwhile as if there were no such delivery.
// It is called in Sink.Handle.
func (l *Listener) Aside(wait func()) {
	l.places.take(-1)
	defer l.places.take(1)
	wait()
}

// nextPoll returns the first poll that can find something, or the very next one when
// that cannot be foreseen; false: none can, as things stand.
func (l *Listener) nextPoll(polls *polls, foreseen bool) (time.Time, bool) {
	from := l.clk.Now()
	if foreseen && !l.expecting() {
		visible, ok := l.foresight.NextVisible(l.queue.Name())
		if !ok {
			return time.Time{}, false
		}
		if visible.After(from) {
			from = visible
		}
	}
	return polls.next(from), true
}

// ended turns the end of ctx into a normal return.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// receive takes the next batch of at most n; when unsure, it asks first whether
// the queue exists.
func (l *Listener) receive(ctx context.Context, unsure bool, n int) (batch []*queue.Message, exists bool, err error) {
	if unsure {
		if exists, err := l.queue.Exists(ctx); err != nil || !exists {
			return nil, false, err
		}
	}
	batch, err = l.queue.Receive(ctx, n, lockDuration)
	return batch, true, err
}

// passing reports whether polling goes on after an error of the service.
func passing(err error) bool {
	return errors.Is(err, bindings.ErrNotFound) || errors.Is(err, bindings.ErrBeingDeleted) || errors.Is(err, bindings.ErrUnavailable)
}

// expecting reports whether a message is known to be delivered again, so that
// polling for it is a wait that matters.
func (l *Listener) expecting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.back.IsZero()
}

// expect notes that a message becomes visible again at t. A listener that receives
// no more leaves that to its successor on the queue.
func (l *Listener) expect(t time.Time) {
	l.mu.Lock()
	stopped := l.stopped
	l.mu.Unlock()
	if stopped && l.opts.Watcher != nil {
		l.opts.Watcher.leave(l.queue.Name(), t)
		return
	}
	l.note(t)
}

// handOn tells the listeners that take this one's place about the message that
// it waits for.
func (l *Listener) handOn() {
	l.mu.Lock()
	l.stopped = true
	back := l.back
	l.mu.Unlock()
	if !back.IsZero() {
		l.expect(back)
	}
}

// note is told when a message comes back.
func (l *Listener) note(t time.Time) {
	l.mu.Lock()
	l.expected++
	if t.After(l.back) {
		l.back = t
	}
	l.mu.Unlock()
	l.alarm.poke()
}

// expectedSoFar is how often note was called.
func (l *Listener) expectedSoFar() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expected
}

// foundNothing notes that the queue was empty. The expected messages were taken,
// unless more were expected since the receive began.
func (l *Listener) foundNothing(before int) {
	now := l.clk.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expected == before && !l.back.After(now) {
		l.back = time.Time{}
	}
}

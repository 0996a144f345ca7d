package triggertest

import (
	"context"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Sink records what a listener hands over. Its methods may be called
// concurrently; make one with NewSink.
type Sink struct {
	clk    clock.Clock
	handle func(ctx context.Context, ev *triggers.Event) triggers.Result

	mu       sync.Mutex
	changed  *clock.Cond
	closed   bool
	limited  bool
	room     int // with limited: deliveries still to be admitted
	draining bool
	waits    []context.CancelFunc // of WhileAdmitted
	handled  []*triggers.Event
	ended    []*triggers.Event
	settled  []Settled
	again    bool
	failures []error
}

// Settled is one call of Sink.Settled.
type Settled struct {
	Event      *triggers.Event
	Settlement triggers.Settlement
}

// NewSink returns a sink that is open and handles deliveries with the function
// given; nil is success.
func NewSink(clk clock.Clock, handle func(ctx context.Context, ev *triggers.Event) triggers.Result) *Sink {
	if handle == nil {
		handle = func(context.Context, *triggers.Event) triggers.Result { return triggers.Result{Attempts: 1} }
	}
	s := &Sink{clk: clk, handle: handle}
	s.changed = clock.NewCond(clk, &s.mu)
	return s
}

// Handle implements triggers.Sink.
func (s *Sink) Handle(ctx context.Context, ev *triggers.Event) triggers.Result {
	s.mu.Lock()
	s.handled = append(s.handled, ev)
	s.mu.Unlock()
	res := s.handle(ctx, ev)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, ev)
	return res
}

// Settled implements triggers.Sink.
func (s *Sink) Settled(ev *triggers.Event, settlement triggers.Settlement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = append(s.settled, Settled{ev, settlement})
	s.changed.Broadcast()
}

// Gate implements triggers.Sink.
func (s *Sink) Gate() triggers.Gate { return s }

// Try implements triggers.Gate.
func (s *Sink) Try() (retryAfter time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.limited && s.room == 0 {
		return time.Second, false
	}
	if s.limited {
		s.room--
	}
	return 0, true
}

// Admit implements triggers.Gate.
func (s *Sink) Admit(ctx context.Context, n int) (admitted int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closed || s.limited && s.room == 0 {
		if err := s.changed.Wait(ctx); err != nil {
			return 0, err
		}
	}
	if s.limited {
		n = min(n, s.room)
		s.room -= n
	}
	return n, ctx.Err()
}

// WhileAdmitted implements triggers.Gate.
func (s *Sink) WhileAdmitted(ctx context.Context) (waiting context.Context, release func()) {
	waiting, cancel := s.clk.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = append(s.waits, cancel)
	if s.closed {
		cancel()
	}
	return waiting, cancel
}

// Unused implements triggers.Gate.
func (s *Sink) Unused(n int) {
	s.set(func() { s.room += n })
}

// Skip implements triggers.Sink.
func (s *Sink) Skip(*triggers.Event) { s.Unused(1) }

// Limit lets Admit hand out n further deliveries in all, as the probes of a
// half-open circuit breaker do. It is called from inside the clock.
func (s *Sink) Limit(n int) { s.set(func() { s.limited, s.room = true, n }) }

// Room is the rest of Limit.
func (s *Sink) Room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room
}

// Draining implements triggers.Sink.
func (s *Sink) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Replaced implements triggers.Sink.
func (s *Sink) Replaced() bool { return false }

// BeginAgain implements triggers.Sink: the listener begins anew after a second if Again
// was called, and ends otherwise.
func (s *Sink) BeginAgain(ctx context.Context, cause error) error {
	s.mu.Lock()
	s.failures = append(s.failures, cause)
	again := s.again
	s.mu.Unlock()
	if !again {
		return cause
	}
	return s.clk.Idle(ctx, time.Second)
}

// Again lets listeners that fail with deliveries in work begin anew.
func (s *Sink) Again() { s.set(func() { s.again = true }) }

// Failures returns what BeginAgain was told, in order.
func (s *Sink) Failures() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.failures...)
}

// Close makes Admit block until Open, as an open circuit breaker does, and ends the
// waits of WhileAdmitted. It is called from inside the clock.
func (s *Sink) Close() {
	s.set(func() {
		s.closed = true
		for _, cancel := range s.waits {
			cancel()
		}
		s.waits = nil
	})
}

// Open lets Admit return. It is called from inside the clock.
func (s *Sink) Open() { s.set(func() { s.closed = false }) }

// Drain makes the next stop a drain.
func (s *Sink) Drain() { s.set(func() { s.draining = true }) }

func (s *Sink) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}

// WaitSettled waits, from inside the clock, until n deliveries are settled.
func (s *Sink) WaitSettled(ctx context.Context, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.settled) < n {
		if err := s.changed.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Handled returns the events of all calls of Handle, in order of their start.
func (s *Sink) Handled() []*triggers.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*triggers.Event(nil), s.handled...)
}

// Settlements returns all calls of Settled, in order.
func (s *Sink) Settlements() []Settled {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Settled(nil), s.settled...)
}

package triggertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Source is a listener under test with what it listens to.
type Source struct {
	Listener triggers.Listener

	// Deliver makes n more deliveries due: it adds messages, or moves the time
	// past n ticks. It is called from outside the clock.
	Deliver func(n int)

	// OneAtATime: a delivery begins when the last has ended.
	OneAtATime bool

	// CancelsInDrain: the token of a delivery ends in a drain too.
	CancelsInDrain bool

	// Lose makes every call of the service fail with that error, except the calls
	// of Deliver, until it is given nil. It is nil for a kind without a service.
	Lose func(err error)
}

// RunListener holds a listener to the contract of triggers.Listener and
// triggers.Sink. open is called once for each subtest.
func RunListener(t *testing.T, open func(t *testing.T, clk *clock.Virtual) *Source) {
	for _, test := range []struct {
		name string
		run  func(b *listenerBench)
	}{
		{"EachDeliveryIsSettledOnce", eachDeliveryIsSettledOnce},
		{"StopEndsRun", stopEndsRun},
		{"NothingIsReceivedAfterStop", nothingIsReceivedAfterStop},
		{"NothingIsReceivedWhileClosed", nothingIsReceivedWhileClosed},
		{"StopWhileClosedEndsRun", stopWhileClosedEndsRun},
		{"StopCancelsTokensAndWaits", func(b *listenerBench) { stopInTheMiddle(b, false) }},
		{"DrainWaits", func(b *listenerBench) { stopInTheMiddle(b, true) }},
		{"StopWaitsForWorkThatIgnoresIt", stopWaitsForWorkThatIgnoresIt},
		{"OutageIsWaitedOut", outageIsWaitedOut},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewVirtual(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), &clock.VirtualOptions{Strict: true})
			b := &listenerBench{T: t, clk: clk}
			b.Source = open(t, clk)
			test.run(b)
			if !b.stopped {
				b.stop()
			}
			b.expectEnded()
			b.checkPairs()
		})
	}
}

type listenerBench struct {
	*testing.T
	*Source
	clk     *clock.Virtual
	sink    *Sink
	cancel  context.CancelFunc
	stopped bool
	ended   bool
	err     error
}

var errHandler = errors.New("handler failed")

// start runs the listener with a handler.
func (b *listenerBench) start(handle func(ctx context.Context, ev *triggers.Event) triggers.Result) {
	b.sink = NewSink(b.clk, handle)
	b.run()
}

func (b *listenerBench) run() {
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, b.cancel = b.clk.WithCancel(context.Background())
		clock.NewGroup(b.clk, 0).Go("listener", func() {
			b.err = b.Listener.Run(ctx, b.sink)
			b.ended = true
		})
	})
}

func (b *listenerBench) stop() {
	b.stopped = true
	b.clk.Do("stop", b.cancel)
}

func (b *listenerBench) expectEnded() {
	b.Helper()
	if !b.ended || b.err != nil {
		b.Fatalf("after the stop: Run returned = %v, error %v, want true, nil; waiting: %+v", b.ended, b.err, b.clk.Waiting())
	}
}

// checkPairs: one Settled for each event, after its Handle.
func (b *listenerBench) checkPairs() {
	b.Helper()
	settled := map[*triggers.Event]int{}
	for _, s := range b.sink.Settlements() {
		settled[s.Event]++
		if s.Settlement.Decision == "" {
			b.Errorf("a settlement without a decision: %+v", s.Settlement)
		}
	}
	for ev, n := range settled {
		if n != 1 {
			b.Errorf("event from %q settled %d times, want once", ev.Source, n)
		}
	}
	handled := map[*triggers.Event]bool{}
	for _, ev := range b.sink.Handled() {
		if handled[ev] {
			b.Error("an event was handled twice")
		}
		handled[ev] = true
		if settled[ev] == 0 {
			b.Errorf("event from %q was handled and never settled", ev.Source)
		}
		if len(ev.Messages) == 0 || !ev.Batch && len(ev.Messages) != 1 {
			b.Errorf("event has %d messages, batch %v", len(ev.Messages), ev.Batch)
		}
	}
}

func eachDeliveryIsSettledOnce(b *listenerBench) {
	n := 0
	b.start(func(ctx context.Context, ev *triggers.Event) triggers.Result {
		n++
		if n%2 == 0 {
			return triggers.Result{Err: errHandler, Attempts: 1}
		}
		return triggers.Result{Attempts: 1}
	})
	b.Deliver(5)
	b.clk.Advance(time.Minute)
	if got := len(b.sink.Handled()); got < 5 {
		b.Errorf("handled %d deliveries, want 5 or more", got)
	}
}

func stopEndsRun(b *listenerBench) {
	b.start(nil)
	b.clk.Advance(time.Minute)
	if b.ended {
		b.Fatalf("Run returned %v before its context ended", b.err)
	}
	b.stop()
	b.expectEnded()
}

// outageIsWaitedOut: a service that cannot be reached any more ends no listener.
func outageIsWaitedOut(b *listenerBench) {
	if b.Lose == nil {
		b.Skip("the kind has no service outside")
	}
	b.start(nil)
	b.Deliver(1)
	b.clk.Advance(3 * time.Second)
	b.Lose(bindings.ErrUnreachable)
	b.Deliver(1) // wakes the waiters
	b.clk.Advance(10 * time.Minute)
	if b.ended {
		b.Fatalf("Run returned %v in an outage", b.err)
	}
	b.Lose(nil)
	b.Deliver(1)
	b.clk.Advance(15 * time.Minute) // locks of the lost calls end
	settled := 0
	for _, s := range b.sink.Settlements() {
		if s.Settlement.Err == nil {
			settled++
		}
	}
	if settled < 3 {
		b.Errorf("settled %d deliveries after the outage, want 3", settled)
	}
}

func nothingIsReceivedAfterStop(b *listenerBench) {
	b.start(nil)
	b.Deliver(1)
	b.clk.Advance(3 * time.Second)
	b.stop()
	b.expectEnded()
	before := len(b.sink.Handled())
	b.Deliver(2)
	b.clk.Advance(time.Hour)
	if got := len(b.sink.Handled()); got != before {
		b.Errorf("handled %d deliveries after the stop", got-before)
	}
	// A message without a receiver lives on in its service until its time.
	lives := func(w clock.Wait) bool { return w.For == "lapse" }
	if w := slices.DeleteFunc(b.clk.Waiting(), lives); len(w) != 0 {
		b.Errorf("still waiting after Run returned: %+v", w)
	}
}

func nothingIsReceivedWhileClosed(b *listenerBench) {
	b.sink = NewSink(b.clk, nil)
	b.sink.closed = true
	b.run()
	if b.OneAtATime {
		return // schedules may skip instead of waiting
	}
	b.Deliver(3)
	b.clk.Advance(time.Minute)
	if got := len(b.sink.Handled()); got != 0 {
		b.Errorf("handled %d deliveries while closed", got)
	}
	b.clk.Do("open", b.sink.Open)
	b.clk.Advance(3 * time.Second)
	if got := len(b.sink.Handled()); got != 3 {
		b.Errorf("handled %d deliveries after opening, want 3", got)
	}
}

func stopWhileClosedEndsRun(b *listenerBench) {
	b.sink = NewSink(b.clk, nil)
	b.sink.closed = true
	b.run()
	b.Deliver(1)
	b.stop()
	b.expectEnded()
}

// stopInTheMiddle: work that heeds its token ends at a stop; in a drain it goes on to
// its end unless the kind cancels then too. Run waits in any case.
func stopInTheMiddle(b *listenerBench, drain bool) {
	cancelled := 0
	b.start(func(ctx context.Context, _ *triggers.Event) triggers.Result {
		if err := b.clk.Sleep(ctx, 10*time.Minute); err != nil {
			cancelled++
			return triggers.Result{Err: errHandler, Attempts: 1, Cancelled: true}
		}
		return triggers.Result{Attempts: 1}
	})
	b.Deliver(1)
	b.clk.Advance(3 * time.Second)
	if got := len(b.sink.Handled()); got != 1 {
		b.Fatalf("handled %d deliveries, want 1", got)
	}
	if drain {
		b.clk.Do("drain", b.sink.Drain)
	}
	b.stop()
	if drain && !b.CancelsInDrain {
		if b.ended {
			b.Error("Run returned in a drain while work was going on")
		}
		b.clk.Advance(10 * time.Minute)
		if cancelled != 0 {
			b.Error("the token ended in a drain")
		}
	} else if cancelled != 1 {
		b.Errorf("%d tokens ended at the stop, want 1", cancelled)
	}
	b.expectEnded()
}

func stopWaitsForWorkThatIgnoresIt(b *listenerBench) {
	b.start(func(context.Context, *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(context.Background(), time.Minute)
		return triggers.Result{Attempts: 1}
	})
	b.Deliver(1)
	b.clk.Advance(3 * time.Second)
	if got := len(b.sink.Handled()); got != 1 {
		b.Fatalf("handled %d deliveries, want 1", got)
	}
	b.stop()
	if b.ended {
		b.Error("Run returned while work was going on")
	}
	b.clk.Advance(time.Minute)
	b.expectEnded()
	if got := len(b.sink.Settlements()); got != 1 {
		b.Errorf("%d deliveries settled, want 1", got)
	}
}

package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

// polls makes the bench note when its queue is received from.
func (b *bench) polls() *[]time.Duration {
	at := new([]time.Duration)
	b.fault = func(p storage.FaultPoint) error {
		if p.Op == "Receive" && !p.After {
			*at = append(*at, b.elapsed())
		}
		return nil
	}
	return at
}

const ms = time.Millisecond

func TestPollingSeries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts *queue.Options
		want []time.Duration // the polls in the first 10 s
	}{
		{"the cap is 2 s by default", nil,
			[]time.Duration{0, 100 * ms, 300 * ms, 600 * ms, 1100 * ms, 2000 * ms, 3700 * ms, 5700 * ms, 7700 * ms, 9700 * ms}},
		{"a configured cap is kept", &queue.Options{MaxPollingInterval: time.Minute},
			[]time.Duration{0, 100 * ms, 300 * ms, 600 * ms, 1100 * ms, 2000 * ms, 3700 * ms, 7000 * ms}},
		{"the jitter is the one given", &queue.Options{MaxPollingInterval: time.Second, Rand: func() float64 { return 0 }},
			[]time.Duration{0, 100 * ms, 280 * ms, 540 * ms, 960 * ms, 1700 * ms, 2700 * ms, 3700 * ms, 4700 * ms, 5700 * ms, 6700 * ms, 7700 * ms, 8700 * ms, 9700 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "orders")
			at := b.polls()
			b.start(tt.opts, succeed)
			b.clk.Advance(10 * time.Second)
			if diff := cmp.Diff(*at, tt.want); diff != "" {
				t.Errorf("polls (-got +want):\n%s", diff)
			}
		})
	}
}

// While messages come, the next batch is taken without a wait.
func TestNoWaitBetweenBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	for range 40 {
		b.put("aGVsbG8=")
	}
	at := b.polls()
	b.start(nil, succeed)
	b.clk.Advance(0)
	if diff := cmp.Diff(*at, []time.Duration{0, 0, 0, 0}); diff != "" {
		t.Errorf("polls (-got +want):\n%s", diff)
	}
	if n := len(b.sink.Settlements()); n != 40 {
		t.Errorf("%d messages settled at once, want 40", n)
	}
}

func TestMissingQueueIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.do(func(ctx context.Context, q queueapi.Queue) { _ = q.DeleteQueue(ctx) })
	at := b.polls()
	b.start(nil, succeed)
	b.clk.Advance(time.Minute)
	if len(*at) != 0 {
		t.Errorf("%d receives from a queue that does not exist", len(*at))
	}
	b.do(func(ctx context.Context, q queueapi.Queue) { _ = q.Create(ctx) })
	b.put("aGVsbG8=")
	b.clk.Advance(2 * time.Second)
	if n := len(b.sink.Settlements()); n != 1 {
		t.Errorf("%d messages settled after the queue was made, want 1", n)
	}
	b.do(func(ctx context.Context, q queueapi.Queue) { _ = q.DeleteQueue(ctx) })
	b.clk.Advance(time.Minute)
	b.do(func(ctx context.Context, q queueapi.Queue) { _ = q.Create(ctx) })
	b.put("aGVsbG8=")
	b.clk.Advance(2 * time.Second)
	if n := len(b.sink.Settlements()); n != 2 || b.ended {
		t.Errorf("%d messages settled after the queue was made again, want 2", n)
	}
}

func TestPassingErrorsAreWaitedOut(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Exists", "Receive"} {
		for _, err := range []error{bindings.ErrNotFound, bindings.ErrBeingDeleted, bindings.ErrUnavailable} {
			t.Run(op+" "+err.Error(), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, "orders")
				f := &failing{op: op, queue: "orders", err: fmt.Errorf("wire: %w", err)}
				b.fault = f.fault
				b.start(nil, succeed)
				b.put("aGVsbG8=")
				b.clk.Advance(10 * time.Second)
				if f.hits < 5 || f.hits > 12 || b.ended {
					t.Errorf("%d tries in 10 s, ended = %v: want the polling series", f.hits, b.ended)
				}
				f.off = true
				b.clk.Advance(2 * time.Second)
				if n := len(b.sink.Settlements()); n != 1 {
					t.Errorf("%d messages settled after the fault, want 1", n)
				}
			})
		}
	}
}

// Any other error ends the listener, after the work in hand. The service has said which
// queue it is about.
func TestOtherErrorsEndRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	broken := errors.New(`queue "orders": 403 AuthorizationFailure`)
	f := &failing{op: "Receive", queue: "orders", err: broken, off: true}
	b.fault = f.fault
	b.start(nil, b.sleeper(time.Minute, succeed))
	b.put("aGVsbG8=")
	b.clk.Advance(3 * time.Second)
	f.off = false
	b.clk.Advance(3 * time.Second)
	if b.ended {
		t.Fatal("Run returned while a message was in work")
	}
	b.clk.Advance(time.Minute)
	if !b.ended || !errors.Is(b.err, broken) || b.err.Error() != broken.Error() {
		t.Errorf("Run = %v (ended %v), want %v", b.err, b.ended, broken)
	}
	if got := b.last().Decision; got != triggers.Deleted {
		t.Errorf("the message in work was %s, want deleted", got)
	}
}

func TestWakeUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		wakeUp bool
		want   time.Duration // after the put
	}{
		{"fast", true, 0},
		{"faithful", false, 700 * ms}, // the poll at 9.7 s
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "orders")
			var at []time.Duration
			b.start(&queue.Options{WakeUp: tt.wakeUp}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				at = append(at, b.elapsed())
				return succeed(ctx, ev)
			})
			b.clk.Advance(9 * time.Second)
			b.put("aGVsbG8=")
			b.clk.Advance(time.Second)
			if diff := cmp.Diff(at, []time.Duration{9*time.Second + tt.want}); diff != "" {
				t.Errorf("runs (-got +want):\n%s", diff)
			}
			b.do(func(ctx context.Context, q queueapi.Queue) {
				_, _ = q.Put(ctx, "aGVsbG8=", &queueapi.PutOptions{Visibility: time.Hour})
			})
			b.clk.Advance(time.Hour)
			if tt.wakeUp && at[len(at)-1] != time.Hour+10*time.Second {
				t.Errorf("the delayed message ran at %v, want %v", at[len(at)-1], time.Hour+10*time.Second)
			}
		})
	}
}

// The in-process watcher wakes a listener whatever the switch says.
func TestWatcherWakes(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	w := queue.NewWatcher()
	b.start(&queue.Options{Watcher: w}, succeed)
	b.clk.Advance(9 * time.Second)
	b.put("aGVsbG8=")
	b.clk.Do("other queue", func() { w.Notify("other") })
	if n := len(b.sink.Handled()); n != 0 {
		t.Errorf("%d runs after the notice for another queue", n)
	}
	b.clk.Do("notify", func() { w.Notify("orders") })
	if n := len(b.sink.Handled()); n != 1 {
		t.Errorf("%d runs after the notice, want 1", n)
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts queue.Options
		want int
	}{
		{"strictly one at a time", queue.Options{BatchSize: 1}, 1},
		{"batch and threshold", queue.Options{BatchSize: 4, NewBatchThreshold: 2}, 6},
		{"a batch only", queue.Options{BatchSize: 32}, 32},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "orders")
			running, most := 0, 0
			n := time.Duration(0)
			b.start(&tt.opts, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				running++
				most = max(most, running)
				n++
				_ = b.clk.Sleep(ctx, n*time.Second)
				running--
				return succeed(ctx, ev)
			})
			for range 70 {
				b.put("aGVsbG8=")
			}
			b.clk.Advance(3 * time.Hour)
			if most != tt.want {
				t.Errorf("at most %d ran at once, want %d", most, tt.want)
			}
			if got := len(b.sink.Settlements()); got != 70 {
				t.Errorf("%d settled, want 70", got)
			}
		})
	}
	if got := queueapi.DefaultNewBatchThreshold(16, 4); got != 32 {
		t.Errorf("DefaultNewBatchThreshold(16, 4) = %d, want 32", got)
	}
}

// A stop cancels the token: the failure counts as a delivery's, so on the last
// one the message goes to poison. Neither release nor copy is cut short.
func TestStopDuringWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit int
		want  triggers.Decision
	}{{5, triggers.Released}, {1, triggers.Poisoned}} {
		t.Run(string(tt.want), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "orders")
			b.start(&queue.Options{MaxDequeueCount: tt.limit}, b.sleeper(time.Hour, succeed))
			b.put("aGVsbG8=")
			b.clk.Advance(time.Minute)
			b.stop()
			if !b.ended || b.err != nil {
				t.Fatalf("Run returned = %v, %v", b.ended, b.err)
			}
			if got := b.last(); got.Decision != tt.want || got.Err != nil {
				t.Errorf("settlement = %+v, want %s", got, tt.want)
			}
			if n := len(b.visible("orders")) + len(b.visible("orders-poison")); n != 1 {
				t.Errorf("%d messages visible, want 1", n)
			}
		})
	}
}

func TestDrainLeavesTokensAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(nil, b.sleeper(24*time.Minute, succeed))
	b.put("aGVsbG8=")
	b.clk.Advance(time.Minute)
	b.sinkDrain()
	b.stop()
	b.clk.Advance(24 * time.Minute)
	if !b.ended || b.last().Decision != triggers.Deleted || b.count() != 0 {
		t.Errorf("ended %v, %+v, %d left: want the work done and the message deleted", b.ended, b.last(), b.count())
	}
	if n := len(b.renewals()); n != 4 {
		t.Errorf("%d renewals during the drain, want 4", n)
	}
}

func (b *bench) sinkDrain() { b.clk.Do("drain", b.sink.Drain) }

// stopping stops the listener just before a receive returns.
type stopping struct {
	queueapi.Queue
	stop func()
}

func (s stopping) Receive(ctx context.Context, n int, d time.Duration) ([]*queueapi.Message, error) {
	ms, err := s.Queue.Receive(context.WithoutCancel(ctx), n, d)
	if len(ms) > 0 {
		s.stop()
	}
	return ms, err
}

// A batch that arrives with the stop is handed back at once, and said; the dequeue is
// counted.
func TestBatchThatComesTooLateIsHandedBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.wrap = func(q queueapi.Queue) queueapi.Queue { return stopping{q, func() { b.cancel() }} }
	b.put("aGVsbG8=")
	b.start(nil, succeed)
	if !b.ended || len(b.sink.Handled()) != 0 {
		t.Errorf("ended %v, handled %d: want no run", b.ended, len(b.sink.Handled()))
	}
	want := []triggers.Settlement{{Decision: triggers.Released, Note: queue.NoteLate}}
	var got []triggers.Settlement
	for _, s := range b.sink.Settlements() {
		got = append(got, s.Settlement)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("settlements (-got +want):\n%s", diff)
	}
	if ms := b.visible("orders"); len(ms) != 1 || ms[0].DequeueCount != 1 {
		t.Errorf("after the stop: %+v, want one visible message with count 1", ms)
	}
}

// Two listeners on one queue share the work by locks alone (storage.md E-8).
func TestTwoListenersShareAQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	for range 100 {
		b.put("aGVsbG8=")
	}
	var sinks []*triggertest.Sink
	b.clk.Do("start", func() {
		ctx, cancel := b.clk.WithCancel(context.Background())
		b.cancel = cancel
		g := clock.NewGroup(b.clk, 0)
		for range 2 {
			sink := triggertest.NewSink(b.clk, b.sleeper(time.Second, succeed))
			sinks = append(sinks, sink)
			l := queue.New(b.clk, b.account, "orders", nil)
			g.Go("listener", func() { _ = l.Run(ctx, sink) })
		}
	})
	b.clk.Advance(time.Minute)
	b.stop()
	seen := map[string]int{}
	for _, sink := range sinks {
		if len(sink.Handled()) == 0 {
			t.Error("one listener had nothing to do")
		}
		for _, ev := range sink.Handled() {
			seen[ev.Messages[0].ID]++
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d messages handled, want 100", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %s handled %d times", id, n)
		}
	}
}

// The same on the system clock, where the race detector sees real concurrency.
func TestOnTheSystemClock(t *testing.T) {
	t.Parallel()
	clk := clock.System()
	account := storage.New(clk, nil)
	ctx, cancel := clk.WithCancel(context.Background())
	defer cancel()
	q := account.Queue("orders")
	if err := q.Create(ctx); err != nil {
		t.Fatal(err)
	}
	const n, maxCount = 200, 2
	for i := range n {
		text := queueapi.Base64.Encode([]byte(fmt.Sprint(i)))
		if i%10 == 0 {
			text = "{plain}"
		}
		if _, err := q.Put(ctx, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	var attempts atomic.Int64
	sink := triggertest.NewSink(clk, func(_ context.Context, ev *triggers.Event) triggers.Result {
		attempts.Add(1)
		if ev.Messages[0].Value.Text[0]%2 == 0 {
			return triggers.Result{Err: errHandler}
		}
		return triggers.Result{}
	})
	g := clock.NewGroup(clk, 0)
	l := queue.New(clk, account, "orders", &queue.Options{WakeUp: true, MaxDequeueCount: maxCount, Watcher: queue.NewWatcher()})
	g.Go("listener", func() {
		if err := l.Run(ctx, sink); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	fails, plain := 0, 0
	for i := range n {
		switch {
		case i%10 == 0:
			plain++
		case fmt.Sprint(i)[0]%2 == 0:
			fails++
		}
	}
	if err := sink.WaitSettled(ctx, n+fails); err != nil {
		t.Fatal(err)
	}
	cancel()
	g.Wait()
	if got, want := int(attempts.Load()), n-plain+fails; got != want {
		t.Errorf("%d runs, want %d", got, want)
	}
	background := context.Background()
	if left, err := q.Count(background); left != 0 || err != nil {
		t.Errorf("%d messages left, %v", left, err)
	}
	if poison, err := account.Queue("orders-poison").Count(background); poison != fails+plain || err != nil {
		t.Errorf("%d poison messages, %v, want %d", poison, err, fails+plain)
	}
}

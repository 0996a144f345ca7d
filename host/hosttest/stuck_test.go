package hosttest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A handler that waits for something outside the clock ends the test, with the name of
// its function and the place where it waits.
func TestHandlerThatBlocks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		block func(ctx context.Context)
		wait  func(h *hosttest.Host)
		want  []string
	}{
		"a send and a channel": {
			func(context.Context) { blockOnAChannel(make(chan int)) }, func(h *hosttest.Host) { h.Send("orders", "7") },
			[]string{"hosttest_test.blockOnAChannel(", "attempt 1 of Blocks, delivery d1"},
		},
		"an await and a context": {
			func(ctx context.Context) { <-ctx.Done() }, func(h *hosttest.Host) { h.AwaitSettled("Late", triggers.Deleted) },
			[]string{"TestHandlerThatBlocks", "attempt 1 of Late"},
		},
		"a call and a lock": {
			func(context.Context) { var m sync.Mutex; m.Lock(); m.Lock() }, func(h *hosttest.Host) { h.Call("Blocks", "7") }, //nolint:staticcheck // it is to block
			[]string{"sync.(*Mutex).Lock", "attempt 1 of Blocks"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Queue("Blocks", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
				test.block(ctx)
				return nil
			})
			app.Timer("Late", "0 * * * * *", func(ctx context.Context, _ functions.TimerInfo) error {
				test.block(ctx)
				return nil
			})
			said := failsIn(t, 10*time.Second, &hosttest.Options{Handlers: app, Patience: 2100 * time.Millisecond}, test.wait)
			for _, want := range append(test.want, "functions.Sleep") {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
		})
	}
}

// An Await that only retries without an end could meet is given up.
func TestAwaitBesideEndlessRetries(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("unavailable") },
		functions.FixedDelay(-1, time.Second))
	for _, await := range []func(h *hosttest.Host){
		func(h *hosttest.Host) { h.AwaitSettled("Orders", triggers.Deleted) },
		func(h *hosttest.Host) { h.Await(func(r *journal.Record) bool { return r.Kind == journal.Settled }) },
	} {
		said := failsIn(t, 20*time.Second, &hosttest.Options{Handlers: app}, func(h *hosttest.Host) {
			h.Send("orders", "7")
			await(h)
		})
		if !strings.Contains(said, `such as the one of "Orders" (maxRetryCount -1, attempt 2`) {
			t.Errorf("it says %.500q", said)
		}
	}
}

func blockOnAChannel(c chan int) { <-c }

// Retries without a delay and without an end end the test, which names the function and
// its policy; so does an app that feeds itself.
func TestNothingEndsWithoutTime(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("unavailable") },
		functions.FixedDelay(-1, 0))
	app.Queue("Again", "again", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.QueueOutput("out", "again"))
	endless := []string{`function "Orders" has failed in `, "maxRetryCount -1 and no delay"}
	for name, test := range map[string]struct {
		f    func(h *hosttest.Host)
		want []string
	}{
		"send":         {func(h *hosttest.Host) { h.Send("orders", "7") }, endless},
		"call":         {func(h *hosttest.Host) { h.Call("Orders", "7") }, endless},
		"feeds itself": {func(h *hosttest.Host) { h.Send("again", "7") }, []string{"an output that triggers its own function", `"Again"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := failsIn(t, time.Minute, &hosttest.Options{Handlers: app}, test.f)
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
		})
	}
}

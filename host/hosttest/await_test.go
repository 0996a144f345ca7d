package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// judged is a test whose failure is under test.
type judged struct {
	*testing.T
	said     strings.Builder
	cleanups []func()
}

func (j *judged) Cleanup(f func()) { j.cleanups = append(j.cleanups, f) }
func (j *judged) Failed() bool     { return j.said.Len() > 0 }

// end does what a test does at its end, the last cleanup first, each on a goroutine that it may
// end.
func (j *judged) end() {
	for len(j.cleanups) > 0 {
		last := j.cleanups[len(j.cleanups)-1]
		j.cleanups = j.cleanups[:len(j.cleanups)-1]
		done := make(chan struct{})
		go func() {
			defer close(done)
			last()
		}()
		<-done
	}
}

func (j *judged) Errorf(format string, args ...any) { fmt.Fprintf(&j.said, format+"\n", args...) }
func (j *judged) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	runtime.Goexit()
}

// fails runs a function that must end the test, and returns the failure's text. It
// must not take long.
func fails(t *testing.T, opts *hosttest.Options, f func(h *hosttest.Host)) string {
	t.Helper()
	return failsIn(t, time.Second, opts, f)
}

// failsIn is fails for what may take so long.
func failsIn(t *testing.T, limit time.Duration, opts *hosttest.Options, f func(h *hosttest.Host)) string {
	t.Helper()
	j := &judged{T: t}
	done := make(chan time.Duration)
	go func() {
		began := time.Now()
		defer func() { done <- time.Since(began) }()
		h := hosttest.New(j, opts)
		began = time.Now()
		f(h)
	}()
	if took := <-done; took > limit {
		t.Errorf("it failed after %v of real time, want within %v", took, limit)
	}
	j.end()
	if j.said.Len() == 0 {
		t.Fatal("it did not fail")
	}
	return j.said.String()
}

// tenFunctions is an app that polls, ticks and scans.
func tenFunctions() *functions.App {
	app := functions.New()
	for i := range 7 {
		app.Queue(fmt.Sprintf("Q%d", i), fmt.Sprintf("queue-%d", i), func(context.Context, functions.QueueMessage) error {
			return errors.New("unavailable")
		})
	}
	app.Timer("Tick", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	app.Blob("Scan", "files/{name}", func(context.Context, functions.Blob) error { return nil })
	app.EventHubBatch("Meter", "readings", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error { return nil })
	return app
}

// An Await that cannot be met fails at once, with what did happen.
func TestAwaitThatCannotBeMet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		f    func(h *hosttest.Host)
		want []string
	}{
		{"nothing was sent", func(h *hosttest.Host) { h.AwaitSettled("Q1", triggers.Poisoned) },
			[]string{"a settlement of Q1 as poisoned has not come", "Q1 has done nothing"}},
		{"another decision", func(h *hosttest.Host) { h.Send("queue-1", "7"); h.AwaitSettled("Q1", triggers.Deleted) },
			[]string{"what Q1 did", `"decision":"poisoned"`}},
		{"the other order", func(h *hosttest.Host) {
			h.Send("queue-1", "7")
			h.AwaitSettled("Q1", triggers.Poisoned)
			h.AwaitSettled("Q1", triggers.Released)
		}, []string{"matches, but an earlier Await has returned a later one", `"decision":"released"`}},
		{"a match of the test's own", func(h *hosttest.Host) {
			h.Send("queue-1", "7")
			h.Await(func(r *journal.Record) bool { return len(h.Attempts("Q1")) == 17 })
		}, []string{"a record that match accepts has not come", "attempt_ended"}},
		{"a misspelt function", func(h *hosttest.Host) { h.AwaitSettled("Q99", triggers.Deleted) },
			[]string{`the app has no function "Q99"; it has Meter, Q0, Q1`}},
		{"none of a misspelt function", func(h *hosttest.Host) { h.WantAttempts("Q99", 0) },
			[]string{`the app has no function "Q99"`}},
		{"an Await within a match", func(h *hosttest.Host) {
			h.Send("queue-1", "7")
			h.Await(func(*journal.Record) bool { h.AwaitKind(journal.Settled); return true })
		}, []string{"an Await within the match of another one"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			said := fails(t, &hosttest.Options{Handlers: tenFunctions()}, test.f)
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
		})
	}
}

// A match of the test's own finds the same records as any other, and the test may end in it.
func TestAwaitLooksUnderNoLock(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: tenFunctions()})
	h.Send("queue-3", "7")
	h.Await(func(*journal.Record) bool { return len(h.Attempts("Q3")) == 3 && len(h.Messages("queue-3")) == 1 })
	h.WantAttempts("Q3", 3)
	said := fails(t, &hosttest.Options{Handlers: tenFunctions()}, func(h *hosttest.Host) {
		h.Send("queue-3", "7")
		h.Await(func(r *journal.Record) bool {
			if r.Kind == journal.AttemptEnded {
				h.WantSettled("Q3", triggers.Deleted)
				runtime.Goexit()
			}
			return false
		})
	})
	if !strings.Contains(said, "settled [released], want [deleted]") {
		t.Errorf("it says %q", said)
	}
}

// A tick of a schedule is awaited even when it is a long way off.
func TestAwaitPassesToALateTick(t *testing.T) {
	t.Parallel()
	app := tenFunctions()
	app.Timer("Monthly", "0 0 0 1 2 *", func(context.Context, functions.TimerInfo) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if r := h.AwaitSettled("Monthly", ""); r.Time.Sub(hosttest.Start) != 31*24*time.Hour {
		t.Errorf("it ticked at %v", r.Time)
	}
}

// A quiet day costs next to nothing, whatever the functions wait for.
func BenchmarkQuietDay(b *testing.B) {
	for kind, register := range quietKinds {
		for _, lax := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/lax=%v", kind, lax), func(b *testing.B) {
				app := functions.New()
				for i := range 10 {
					register(app, fmt.Sprintf("F%d", i), fmt.Sprintf("source-%d", i))
				}
				h := hosttest.New(b, &hosttest.Options{Handlers: app, Lax: lax})
				for i := range 10 {
					if kind == "cosmos" {
						h.CreateCosmos("shop", fmt.Sprintf("source-%d", i))
					}
				}
				for b.Loop() {
					h.Advance(24 * time.Hour)
				}
			})
		}
	}
}

// quietKinds register a function of each kind that polls.
var quietKinds = map[string]func(app *functions.App, name, source string){ // read only
	"queue": func(app *functions.App, name, source string) {
		app.Queue(name, source, func(context.Context, functions.QueueMessage) error { return nil })
	},
	"timer": func(app *functions.App, name, _ string) {
		app.Timer(name, "0 0 0 1 1 *", func(context.Context, functions.TimerInfo) error { return nil })
	},
	"blob": func(app *functions.App, name, source string) {
		app.Blob(name, source+"/{name}", func(context.Context, functions.Blob) error { return nil })
	},
	"servicebus": func(app *functions.App, name, source string) {
		app.ServiceBusQueue(name, source, func(context.Context, functions.ServiceBusMessage) error { return nil })
	},
	"eventhubs": func(app *functions.App, name, source string) {
		app.EventHub(name, source, func(context.Context, functions.EventHubEvent) error { return nil })
	},
	"cosmos": func(app *functions.App, name, source string) {
		app.CosmosDB(name, "shop", source, func(context.Context, []functions.CosmosDocument) error { return nil }, functions.CreateLeases())
	},
	"eventgrid": func(app *functions.App, name, _ string) {
		app.EventGrid(name, func(context.Context, functions.EventGridEvent) error { return nil })
	},
}

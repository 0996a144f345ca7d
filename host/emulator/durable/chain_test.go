package durable_test

import (
	"strings"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/journal"
)

// T-2.
func TestChain(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("act A —", "act A, act B —", "act A, act B, act C —", "act A, act B, act C, done 5")
		b.activities["A"], b.activities["B"], b.activities["C"] = returns("1"), returns("2"), returns("3")
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Completed, "5")
	if got.Turns != 4 || len(b.ran) != 3 || b.elapsed() != 0 {
		t.Errorf("%d turns, %d activities, %s", got.Turns, len(b.ran), b.elapsed())
	}
	for i, name := range []string{"A", "B", "C"} {
		if a := b.ran[i]; a.Name != name || a.Number != i || a.Input != "1" || a.Delivery != 1 {
			t.Errorf("activity %d is %+v", i, a)
		}
	}
}

// T-4, T-7: the waits of retries, on the clock.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	tries := 0
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("retry A(1h,4,×2) —", "retry A(1h,4,×2) —", "retry A(1h,4,×2) —", "retry A(1h,4,×2) —", "retry A(1h,4,×2), done 1")
		b.activities["A"] = func(*api.Activity) api.Reply {
			if tries++; tries < 3 {
				return api.Reply{Failed: true, Message: "no"}
			}
			return api.Reply{Value: "1"}
		}
	})
	b.start("O", "i1")
	b.run()
	b.want("i1", api.Completed, "1")
	if b.elapsed() != 3*time.Hour || tries != 3 {
		t.Errorf("%d attempts in %s", tries, b.elapsed())
	}
	waits := b.kinds(journal.TaskScheduled, func(r *journal.Record) string { return r.Name + " " + r.Fields[1].Value + " " + r.Delay.String() })
	if got, want := strings.Join(waits, ", "), "A activity 0s, timer retry 1h0m0s, A activity 0s, timer retry 2h0m0s, A activity 0s"; got != want {
		t.Errorf("scheduled %s, want %s", got, want)
	}
}

func TestTimerAndEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("any[tim 72h, ev ok] —", "any[tim 72h x, ev ok], done 1")
	})
	b.start("O", "i1")
	b.clk.Advance(47 * time.Hour)
	b.want("i1", api.Running, "")
	b.raise("i1", "ok", "true")
	b.run()
	b.want("i1", api.Completed, "1")
	if b.elapsed() != 47*time.Hour {
		t.Errorf("ended after %s", b.elapsed())
	}
	ends := b.kinds(journal.TaskEnded, func(r *journal.Record) string { return r.Name + " " + r.Status + " " + r.Delay.String() })
	if got := strings.Join(ends, ", "); got != "timer cancelled 47h0m0s" {
		t.Errorf("ends %s", got)
	}
}

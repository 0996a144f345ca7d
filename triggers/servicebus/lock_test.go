package servicebus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	broker "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

func (b *bench) at(kind string) (out []string) {
	for _, r := range b.records {
		if at, ok := strings.CutSuffix(r, " "+kind+" orders"); ok {
			out = append(out, at)
		}
	}
	return out
}

// TestRenewal: ten seconds before the lock ends, as long as the function runs.
func TestRenewal(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.start(nil, b.after(4*time.Minute, succeed))
	b.send("a")
	b.clk.Advance(10 * time.Minute)
	if diff := cmp.Diff([]string{"50s", "1m40s", "2m30s", "3m20s"}, b.at("lock_renewed")); diff != "" {
		t.Errorf("renewals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/1"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestRetriesOutlastRenewal is spec messaging 2.4: after the budget and the rest of
// the lock the message comes a second time while the first run goes on, and the
// late settlement fails.
func TestRetriesOutlastRenewal(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	first := true
	b.start(nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if first {
			first = false
			return b.after(7*time.Minute, succeed)(ctx, ev)
		}
		return b.after(6*time.Second, succeed)(ctx, ev)
	})
	b.send("a")
	b.clk.Advance(20 * time.Minute)
	if diff := cmp.Diff([]string{"a/1", "a/2"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	// Renewed at 50 s, ..., 4 m 10 s: the last lock ends at 5 m 10 s.
	if diff := cmp.Diff([]string{"50s", "1m40s", "2m30s", "3m20s", "4m10s"}, b.at("lock_renewed")); diff != "" {
		t.Errorf("renewals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"5m10s"}, b.at("lock_expired")); diff != "" {
		t.Errorf("expiries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Completed, triggers.LockLost}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestRenewalBudget(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		opts servicebus.Options
		lock time.Duration
		want []string
	}{
		{"none", servicebus.Options{NoAutoLockRenewal: true}, time.Minute, nil},
		{"short", servicebus.Options{MaxAutoLockRenewal: time.Minute}, time.Minute, []string{"50s"}},
		{"half of a short lock", servicebus.Options{MaxAutoLockRenewal: 10 * time.Second}, 8 * time.Second, []string{"4s", "8s"}},
		{"batches never", servicebus.Options{Batch: true}, time.Minute, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{LockDuration: test.lock, MaxDeliveryCount: 1})
			b.start(&test.opts, b.after(3*time.Minute, succeed))
			b.send("a")
			b.clk.Advance(4 * time.Minute)
			if diff := cmp.Diff(test.want, b.at("lock_renewed")); diff != "" {
				t.Errorf("renewals (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]triggers.Decision{triggers.LockLost}, b.decisions()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unlimited", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebusapi.Queue{})
		b.start(&servicebus.Options{MaxAutoLockRenewal: -1}, b.after(24*time.Hour, succeed))
		b.send("a")
		b.clk.Advance(25 * time.Hour)
		if diff := cmp.Diff([]string{"a/1"}, b.seen()); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}

// TestNoAbandonAfterLockLost: a failure whose lock a renewal found lost is not
// abandoned (spec messaging 2.3).
func TestNoAbandonAfterLockLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	abandons := 0
	b.faults = func(p broker.FaultPoint) error {
		switch {
		case p.Op == "Renew" && !p.After:
			return messaging.ErrLockLost
		case p.Op == "Abandon" && !p.After:
			abandons++
		}
		return nil
	}
	n := 0
	b.start(nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if n++; n == 1 {
			return b.after(55*time.Second, fail)(ctx, ev)
		}
		return triggers.Result{}
	})
	b.send("a")
	b.clk.Advance(5 * time.Minute)
	if abandons != 0 {
		t.Errorf("%d abandons, want none", abandons)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.LockLost, triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestRenewalAfterPassingFault: a fault that passes does not end renewing.
func TestRenewalAfterPassingFault(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	failed := false
	b.faults = func(p broker.FaultPoint) error {
		if p.Op == "Renew" && !p.After && !failed {
			failed = true
			return bindings.ErrUnavailable
		}
		return nil
	}
	b.start(nil, b.after(2*time.Minute, succeed))
	b.send("a")
	b.clk.Advance(5 * time.Minute)
	if diff := cmp.Diff([]string{"55s", "1m45s"}, b.at("lock_renewed")); diff != "" {
		t.Errorf("renewals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

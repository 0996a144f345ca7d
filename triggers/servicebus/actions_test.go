package servicebus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// tokenOf is the lock token of a single message, as its handler sees it.
func tokenOf(ev *triggers.Event) string { return ev.Messages[0].Metadata["LockToken"].(string) }

// tokensOf are the lock tokens of a batch.
func tokensOf(ev *triggers.Event) (list []string) {
	check(json.Unmarshal(ev.Messages[0].Metadata["LockTokenArray"].(json.RawMessage), &list))
	return list
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// settling settles the message, and ends as then says.
func (b *bench) settling(how bindings.Disposition, then handler) handler {
	return func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if err := ev.Actions.Settle(ctx, strings.ToUpper(tokenOf(ev)), how); err != nil {
			b.Error(err)
		}
		// Once settled, a message is nobody's.
		if err := ev.Actions.Settle(ctx, tokenOf(ev), how); !errors.Is(err, bindings.ErrNotHeld) {
			b.Errorf("settled twice: %v", err)
		}
		if err := ev.Actions.Renew(ctx, tokenOf(ev)); !errors.Is(err, bindings.ErrNotHeld) {
			b.Errorf("renewed after the settlement: %v", err)
		}
		return then(ctx, ev)
	}
}

// TestHandlerSettles: what a handler settled itself is not settled again, whatever
// autoCompleteMessages says and however the handler ends (spec messaging 2.3).
func TestHandlerSettles(t *testing.T) {
	t.Parallel()
	asks := func(ctx context.Context, ev *triggers.Event) triggers.Result {
		return triggers.Result{Attempts: 1, Asked: triggers.Request{Decision: triggers.DeadLettered}}
	}
	complete, abandon := bindings.Disposition{Decision: "completed"}, bindings.Disposition{Decision: "abandoned"}
	for _, test := range []struct {
		name   string
		off    bool
		how    bindings.Disposition
		then   handler
		note   string
		counts servicebusapi.Counts
	}{
		{"complete", false, complete, succeed, servicebus.NoteSettled, servicebusapi.Counts{}},
		{"complete without auto-complete", true, complete, succeed, servicebus.NoteSettled, servicebusapi.Counts{}},
		{"complete and fail", false, complete, fail, servicebus.NoteSettledThenFailed, servicebusapi.Counts{}},
		{"complete and fail without auto-complete", true, complete, fail, servicebus.NoteSettledThenFailed, servicebusapi.Counts{}},
		{"complete and ask", false, complete, asks, servicebus.NoteSettled, servicebusapi.Counts{}},
		{"abandon", false, abandon, succeed, servicebus.NoteSettled, servicebusapi.Counts{DeadLetter: 1}},
		{"abandon and fail", false, abandon, fail, servicebus.NoteSettledThenFailed, servicebusapi.Counts{DeadLetter: 1}},
		{"defer", true, bindings.Disposition{Decision: "deferred"}, succeed, servicebus.NoteSettled, servicebusapi.Counts{Deferred: 1}},
		{"dead-letter", false, bindings.Disposition{Decision: "dead_lettered", Reason: "r"}, succeed, servicebus.NoteSettled, servicebusapi.Counts{DeadLetter: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 1})
			b.start(&servicebus.Options{LeaveUnsettled: test.off}, b.settling(test.how, test.then))
			b.send("a")
			b.clk.Advance(10 * time.Minute)
			var got []triggers.Settlement
			for _, s := range b.sink.Settlements() {
				got = append(got, s.Settlement)
			}
			want := []triggers.Settlement{{Decision: triggers.Decision(test.how.Decision), Note: test.note}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settlements (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.counts, b.counts()); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSettledProperties: properties are merged into the message; the count of an
// abandoned and of a deferred one moves.
func TestSettledProperties(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	changed := map[string]any{"step": int32(2)}
	n := 0
	b.start(nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		how := bindings.Disposition{Decision: "abandoned", Properties: changed}
		if n++; n == 2 {
			if got := fmt.Sprint(ev.DeliveryCount, " ", string(ev.Messages[0].Metadata["ApplicationProperties"].(json.RawMessage))); got != `2 {"step":2}` {
				t.Errorf("second delivery: %s", got)
			}
			how.Decision = "deferred"
		}
		return b.settling(how, succeed)(ctx, ev)
	})
	b.send("a")
	b.do(func(ctx context.Context) error {
		r, err := b.ns.Receiver(ctx, "orders", nil)
		if err != nil {
			return err
		}
		got, err := r.ReceiveDeferred(ctx, 1)
		if err != nil {
			return err
		}
		if got[0].DeliveryNumber() != 3 || got[0].ApplicationProperties["step"] != int32(2) {
			t.Errorf("deferred: delivery %d, properties %v", got[0].DeliveryNumber(), got[0].ApplicationProperties)
		}
		return r.Close(ctx)
	})
}

// TestHandlerRenews: by hand, and no longer once the message is settled.
func TestHandlerRenews(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.start(nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		check(b.clk.Sleep(ctx, 10*time.Second))
		if err := ev.Actions.Renew(ctx, tokenOf(ev)); err != nil {
			t.Error(err)
		}
		return b.settling(bindings.Disposition{Decision: "completed"}, b.after(5*time.Minute, succeed))(ctx, ev)
	})
	b.send("a")
	b.clk.Advance(10 * time.Minute)
	if diff := cmp.Diff([]string{"10s"}, b.at("lock_renewed")); diff != "" {
		t.Errorf("renewals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestSettlesTooLate: a lost lock is the service's failure, after the delivery nothing
// is held, and what Service Bus does not know is refused.
func TestSettlesTooLate(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{LockDuration: 30 * time.Second})
	var kept *triggers.Event
	b.start(&servicebus.Options{NoAutoLockRenewal: true}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if ev.DeliveryCount > 1 {
			return succeed(ctx, ev)
		}
		kept = ev
		a := ev.Actions
		for _, token := range []string{"", "no token", "00000000-0000-0000-0000-000000000000"} {
			if err := a.Settle(ctx, token, bindings.Disposition{Decision: "completed"}); !errors.Is(err, bindings.ErrNotHeld) {
				t.Errorf("token %q: %v", token, err)
			}
		}
		if err := a.Settle(ctx, tokenOf(ev), bindings.Disposition{Decision: "poisoned"}); err == nil || errors.Is(err, bindings.ErrNotHeld) {
			t.Errorf("poisoned: %v", err)
		}
		if _, err := a.SessionState(ctx, ""); !errors.Is(err, bindings.ErrNotHeld) {
			t.Errorf("a session without sessions: %v", err)
		}
		check(b.clk.Sleep(ctx, time.Minute))
		if err := a.Settle(ctx, tokenOf(ev), bindings.Disposition{Decision: "completed"}); !errors.Is(err, messaging.ErrLockLost) {
			t.Errorf("after the end of the lock: %v", err)
		}
		return succeed(ctx, ev)
	})
	b.send("a")
	b.clk.Advance(5 * time.Minute)
	b.do(func(ctx context.Context) error {
		if err := kept.Actions.Settle(ctx, tokenOf(kept), bindings.Disposition{Decision: "completed"}); !errors.Is(err, bindings.ErrNotHeld) {
			t.Errorf("after the delivery: %v", err)
		}
		return nil
	})
	if got := b.decisions(); len(got) != 2 || got[0] != triggers.Completed || got[1] != triggers.LockLost {
		t.Errorf("decisions %v", got)
	}
}

// TestHandlerSettlesOfABatch: the rest of the batch follows the trigger's rule.
func TestHandlerSettlesOfABatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		own    int // settled by the handler
		off    bool
		then   handler
		want   triggers.Settlement
		counts servicebusapi.Counts
	}{
		{"some", 1, false, succeed, triggers.Settlement{Decision: triggers.Completed, Note: "1 of 3 messages " + servicebus.NoteSettled}, servicebusapi.Counts{DeadLetter: 1}},
		{"some, and fails", 2, false, fail, triggers.Settlement{Decision: triggers.Abandoned, Note: "2 of 3 messages " + servicebus.NoteSettledThenFailed}, servicebusapi.Counts{DeadLetter: 3}},
		{"some, the rest is left", 2, true, succeed, triggers.Settlement{Decision: triggers.Dropped, Note: servicebus.NoteUnsettled + "; 2 of 3 messages " + servicebus.NoteSettled}, servicebusapi.Counts{Active: 1, DeadLetter: 2}},
		{"all", 3, true, succeed, triggers.Settlement{Decision: triggers.DeadLettered, Note: servicebus.NoteSettled}, servicebusapi.Counts{DeadLetter: 3}},
		{"all, and fails", 3, false, fail, triggers.Settlement{Decision: triggers.DeadLettered, Note: servicebus.NoteSettledThenFailed}, servicebusapi.Counts{DeadLetter: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 1})
			b.send("a", "b", "c")
			b.start(&servicebus.Options{Batch: true, LeaveUnsettled: test.off}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				for _, token := range tokensOf(ev)[:test.own] {
					if err := ev.Actions.Settle(ctx, token, bindings.Disposition{Decision: "dead_lettered"}); err != nil {
						t.Error(err)
					}
				}
				return test.then(ctx, ev)
			})
			if s := b.sink.Settlements(); len(s) != 1 || s[0].Settlement != test.want {
				t.Errorf("got %+v, want %+v", s, test.want)
			}
			if diff := cmp.Diff(test.counts, b.counts()); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSessionActions: state and lock of the session, for single messages and batches, and
// the metadata that .NET needs for them.
func TestSessionActions(t *testing.T) {
	t.Parallel()
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{RequiresSession: true, LockDuration: time.Minute})
			b.sendTo("s", "a")
			b.start(&servicebus.Options{Sessions: true, Batch: batch, SessionActions: true}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				a, metadata := ev.Actions, ev.Messages[0].Metadata
				var session struct{ SessionLockedUntil time.Time }
				check(json.Unmarshal(metadata["SessionActions"].(json.RawMessage), &session))
				if !session.SessionLockedUntil.Equal(start.Add(time.Minute)) {
					t.Errorf("SessionActions: %s", metadata["SessionActions"])
				}
				if batch {
					if diff := cmp.Diff([]string{"s"}, metadata["SessionIdArray"]); diff != "" {
						t.Errorf("SessionIdArray (-want +got):\n%s", diff)
					}
				}
				if state, err := a.SessionState(ctx, "s"); state != nil || err != nil {
					t.Errorf("first state: %q, %v", state, err)
				}
				if err := a.SetSessionState(ctx, "s", []byte{0, 255}); err != nil {
					t.Error(err)
				}
				if state, err := a.SessionState(ctx, "s"); string(state) != "\x00\xff" || err != nil {
					t.Errorf("state: %q, %v", state, err)
				}
				check(b.clk.Sleep(ctx, 20*time.Second))
				if until, err := a.RenewSession(ctx, "s"); !until.Equal(start.Add(80*time.Second)) || err != nil {
					t.Errorf("renewed until %v, %v", until, err)
				}
				for name, err := range map[string]error{
					"set": a.SetSessionState(ctx, "S", nil), "release": a.ReleaseSession(ctx, "other"),
					"renew": func() error { _, err := a.RenewSession(ctx, ""); return err }(),
				} {
					if !errors.Is(err, bindings.ErrNotHeld) {
						t.Errorf("%s of another session: %v", name, err)
					}
				}
				return succeed(ctx, ev)
			})
			b.clk.Advance(time.Minute)
			if diff := cmp.Diff([]triggers.Decision{triggers.Completed}, b.decisions()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleasedSession: no more of it is received, what runs of it goes on, and nothing
// counts as a failed delivery. The session is taken again after others.
func TestReleasedSession(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]int{"one at a time": 1, "side by side": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{RequiresSession: true})
			b.sendTo("a", "a1", "a2")
			b.sendTo("b", "b1")
			var runs []string
			b.start(&servicebus.Options{Sessions: true, MaxConcurrentSessions: 1, MaxConcurrentCallsPerSession: calls, SessionIdleTimeout: time.Hour}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				runs = append(runs, fmt.Sprintf("%s/%d", ev.Messages[0].Value.Text, ev.DeliveryCount))
				if err := ev.Actions.ReleaseSession(ctx, ev.Messages[0].Metadata["SessionId"].(string)); err != nil {
					t.Error(err)
				}
				return b.after(time.Second, succeed)(ctx, ev)
			})
			b.clk.Advance(time.Minute)
			if got := strings.Join(runs, " "); got != "a1/1 a2/1 b1/1" && got != "a1/1 b1/1 a2/1" {
				t.Errorf("runs: %s", got)
			}
			if got := b.counts(); got != (servicebusapi.Counts{}) {
				t.Errorf("counts %+v", got)
			}
		})
	}
}

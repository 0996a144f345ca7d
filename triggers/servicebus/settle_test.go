package servicebus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	broker "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// TestSettlement is the table of spec messaging 2.3 for single messages, and what
// handlers can ask for.
func TestSettlement(t *testing.T) {
	t.Parallel()
	asking := func(d triggers.Decision, err error) handler {
		return func(context.Context, *triggers.Event) triggers.Result {
			return triggers.Result{Err: err, Attempts: 1, Asked: triggers.Request{Decision: d, Reason: "why", Description: "because"}}
		}
	}
	off := &servicebus.Options{LeaveUnsettled: true}
	for _, test := range []struct {
		name   string
		opts   *servicebus.Options
		handle handler
		want   triggers.Decision
		counts servicebusapi.Counts
	}{
		{"success completes", nil, succeed, triggers.Completed, servicebusapi.Counts{}},
		{"success without auto-complete leaves the lock", off, succeed, triggers.Dropped, servicebusapi.Counts{Active: 1}},
		{"failure abandons", nil, fail, triggers.Abandoned, servicebusapi.Counts{DeadLetter: 1}},
		{"failure abandons without auto-complete too", off, fail, triggers.Abandoned, servicebusapi.Counts{DeadLetter: 1}},
		{"asked to complete", off, asking(triggers.Completed, nil), triggers.Completed, servicebusapi.Counts{}},
		{"asked to defer", nil, asking(triggers.Deferred, nil), triggers.Deferred, servicebusapi.Counts{Deferred: 1}},
		{"asked to dead-letter", nil, asking(triggers.DeadLettered, nil), triggers.DeadLettered, servicebusapi.Counts{DeadLetter: 1}},
		{"asked to dead-letter and failed", nil, asking(triggers.DeadLettered, errHandler), triggers.DeadLettered, servicebusapi.Counts{DeadLetter: 1}},
		{"asked to abandon", nil, asking(triggers.Abandoned, nil), triggers.Abandoned, servicebusapi.Counts{DeadLetter: 1}},
		{"asked for what other kinds do", nil, asking(triggers.Poisoned, nil), triggers.Completed, servicebusapi.Counts{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 1})
			b.start(test.opts, test.handle)
			b.send("a")
			if diff := cmp.Diff([]triggers.Decision{test.want}, b.decisions()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.counts, b.counts()); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeadLetterReasonOfTheHandler(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.start(nil, func(context.Context, *triggers.Event) triggers.Result {
		return triggers.Result{Err: errHandler, Asked: triggers.Request{Decision: triggers.DeadLettered, Reason: "no such customer", Description: "customer 7"}}
	})
	b.send("a")
	b.do(func(ctx context.Context) error {
		r, err := b.ns.Receiver(ctx, "orders/$DeadLetterQueue", nil)
		if err != nil {
			return err
		}
		got, err := r.Receive(ctx, 1, 0)
		if err != nil || len(got) != 1 {
			return fmt.Errorf("dead letters %v, %w", got, err)
		}
		p := got[0].ApplicationProperties
		if p["DeadLetterReason"] != "no such customer" || p["DeadLetterErrorDescription"] != "customer 7" {
			t.Errorf("properties %v", p)
		}
		return r.Close(ctx)
	})
}

// TestDeliveries: each failed delivery abandons; the metadata and the event count
// from 1; the tenth failure dead-letters (spec messaging 0, rule 4).
func TestDeliveries(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.start(nil, fail)
	b.send("a")
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("a/%d", i+1))
	}
	if diff := cmp.Diff(want, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	for i, ev := range b.sink.Handled() {
		if got := ev.Messages[0].Metadata["DeliveryCount"]; got != int64(i+1) {
			t.Errorf("DeliveryCount in delivery %d: %v", i+1, got)
		}
	}
	if got := b.counts(); got != (servicebusapi.Counts{DeadLetter: 1}) {
		t.Errorf("counts %+v", got)
	}
	if !b.clk.Now().Equal(start) {
		t.Errorf("ten deliveries took %s, want none", b.clk.Now().Sub(start))
	}
}

// TestUnsettledComesBack: without auto-complete the lock ends, which counts.
func TestUnsettledComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 2})
	b.start(&servicebus.Options{LeaveUnsettled: true}, succeed)
	b.send("a")
	b.clk.Advance(5 * time.Minute)
	if diff := cmp.Diff([]string{"a/1", "a/2"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if got := b.counts(); got.DeadLetter != 1 {
		t.Errorf("counts %+v", got)
	}
}

// TestDeadLetterQueueTrigger: a function on a dead-letter queue sees a message
// whose count no longer moves; it cannot dead-letter it.
func TestDeadLetterQueueTrigger(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 1})
	b.do(func(ctx context.Context) error {
		r, err := b.ns.Receiver(ctx, "orders", nil)
		if err != nil {
			return err
		}
		if err := b.ns.Send(ctx, "orders", &servicebusapi.Message{Body: []byte("a")}); err != nil {
			return err
		}
		got, err := r.Receive(ctx, 1, 0)
		if err != nil {
			return err
		}
		if err := r.DeadLetter(ctx, got[0], "", "", nil); err != nil {
			return err
		}
		return r.Close(ctx)
	})
	n := 0
	b.startOn("orders/$DeadLetterQueue", nil, func(context.Context, *triggers.Event) triggers.Result {
		n++
		switch n {
		case 1:
			return triggers.Result{Err: errHandler}
		case 2:
			return triggers.Result{Asked: triggers.Request{Decision: triggers.DeadLettered}}
		}
		return triggers.Result{}
	})
	if diff := cmp.Diff([]triggers.Decision{triggers.Abandoned, triggers.Abandoned, triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if got := b.sink.Settlements()[1].Settlement.Note; got != servicebus.NoteNotFromSubQueue {
		t.Errorf("note %q", got)
	}
	if got := b.counts(); got != (servicebusapi.Counts{}) {
		t.Errorf("counts %+v", got)
	}
}

func TestSettlementFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.faults = func(p broker.FaultPoint) error {
		if p.Op == "Complete" && !p.After {
			return bindings.ErrUnavailable
		}
		return nil
	}
	b.start(nil, succeed)
	b.send("a")
	s := b.sink.Settlements()
	if len(s) != 1 || s[0].Settlement.Decision != triggers.Completed || s[0].Settlement.Err == nil {
		t.Errorf("settlements %+v, want one completed with an error", s)
	}
}

func TestMissingSourceEndsRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.clk.Do("run", func() {
		for _, opts := range []*servicebus.Options{nil, {Sessions: true}} {
			err := servicebus.New(b.clk, b.ns, "missing", opts).Run(context.Background(), nil)
			if err == nil || !strings.Contains(err.Error(), `service bus "missing"`) {
				t.Errorf("Run on a missing queue: %v", err)
			}
		}
		if err := servicebus.New(b.clk, b.ns, "orders", &servicebus.Options{Sessions: true}).Run(context.Background(), nil); err == nil {
			t.Error("sessions of a queue without: no error")
		}
	})
}

// TestCircuitBreaker: nothing is received while the function takes nothing, so no
// count moves.
func TestCircuitBreaker(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.start(&servicebus.Options{MaxConcurrentCalls: 2}, succeed)
	b.clk.Do("limit", func() { b.sink.Limit(0) })
	b.send("a", "b", "c")
	if n := len(b.sink.Handled()); n > 2 {
		t.Errorf("%d deliveries, want no more than were admitted before", n)
	}
}

package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Rules hold values of every type that administration clients send, durations among
// them, also on a disk; and an action may give such a value to a message.
func TestRuleValues(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	open := func() (*servicebus.Namespace, *store.Store) {
		t.Helper()
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		ns, err := servicebus.Open(clock.System(), db, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ns, db
	}
	values := map[string]any{"@span": time.Hour, "@int": 3, "@long": int64(3), "@time": start, "@double": 1.5, "@text": "x", "@flag": true}
	sql := servicebusapi.SQL{Expression: "@span = @span", Parameters: values}
	action := servicebusapi.SQL{Expression: "SET span = @span; SET text = @text", Parameters: values}
	rules := []servicebusapi.Rule{
		{Name: "sql", Filter: servicebusapi.Filter{Kind: servicebusapi.SQLFilter, SQL: sql}, Action: &action},
		{Name: "correlation", Filter: servicebusapi.Filter{Kind: servicebusapi.CorrelationFilter, Correlation: servicebusapi.Correlation{Properties: map[string]any{"span": time.Hour, "n": 1}}}},
	}

	ns, db := open()
	if _, err := ns.CreateTopic(ctx, servicebusapi.Topic{Name: "events"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "events", Name: "all"}, &rules[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := ns.CreateRule(ctx, "events", "all", rules[1]); err != nil {
		t.Fatal(err)
	}
	bad := servicebusapi.Rule{Name: "bad", Filter: servicebusapi.Filter{Kind: servicebusapi.CorrelationFilter, Correlation: servicebusapi.Correlation{Properties: map[string]any{"p": struct{}{}}}}}
	if _, err := ns.CreateRule(ctx, "events", "all", bad); !errors.Is(err, bindings.ErrInvalidArgument) {
		t.Errorf("a value of no type that a rule can hold: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	ns, db = open()
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := ns.GetRule(ctx, "events", "all", "sql")
	if err != nil {
		t.Fatal(err)
	}
	values["@int"] = int64(3)
	if diff := cmp.Diff(values, r.Filter.SQL.Parameters); diff != "" {
		t.Errorf("parameters that were read back (-want +got):\n%s", diff)
	}
	if err := ns.Send(ctx, "events", &servicebusapi.Message{MessageID: "1"}); err != nil {
		t.Fatal(err)
	}
	receiver, err := ns.Receiver(ctx, "events/Subscriptions/all", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close(ctx)
	got, err := receiver.Peek(ctx, 0, 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("peeked %d messages, %v; want the message of the rule with the action", len(got), err)
	}
	span := messaging.Encoded("\x00\xa3\x16com.microsoft:timespan\x81\x00\x00\x00\x08\x61\xc4\x68\x00")
	want := map[string]any{"span": span, "text": "x", servicebusapi.RuleName: "sql"}
	if diff := cmp.Diff(want, got[0].ApplicationProperties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	// The correlation filter accepts a message with the same value.
	if err := ns.Send(ctx, "events", &servicebusapi.Message{MessageID: "2", ApplicationProperties: map[string]any{"span": span, "n": 1}}); err != nil {
		t.Fatal(err)
	}
	if got, err := receiver.Peek(ctx, 0, 10); err != nil || len(got) != 3 {
		t.Errorf("peeked %d messages, %v; want one more of each rule", len(got), err)
	}
}

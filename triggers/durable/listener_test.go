package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	contract "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/durable"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestActivities(t *testing.T) {
	t.Parallel()
	triggertest.RunListener(t, func(_ *testing.T, clk *clock.Virtual) *triggertest.Source {
		work, n := newWork(clk), 0
		return &triggertest.Source{
			Listener: durable.Activities(clk, work, "Charge", "order", nil),
			Deliver: func(more int) {
				clk.Do("schedule", func() {
					work.put(func() {
						for range more {
							n++
							work.activities = append(work.activities, &contract.Activity{Instance: "i", Number: n, Name: "Charge", Input: "null", Delivery: 1})
						}
					})
				})
			},
		}
	})
}

type late struct{}

func (late) Error() string { return "late" }
func (late) Timeout() bool { return true }

// What an activity is given, and what its instance hears of its end (spec durable 3.8).
func TestActivityValues(t *testing.T) {
	t.Parallel()
	value := func(v bindings.Value) triggers.Result { return triggers.Result{Returned: &v} }
	for _, tt := range []struct {
		input string
		given bindings.Value
		meta  map[string]any
		res   triggers.Result
		want  string
	}{
		{`"x"`, bindings.StringValue("x"), map[string]any{"order": "x", "data": json.RawMessage(`"x"`)}, value(bindings.StringValue("a<b")), `"a<b"`},
		{`"1"`, bindings.StringValue("1"), map[string]any{"order": "1", "data": json.RawMessage(`"1"`)}, value(bindings.Value{Kind: bindings.Int}), "0"},
		{`1.5`, bindings.StringValue("1.5"), map[string]any{"order": "1.5", "data": json.RawMessage(`1.5`)}, value(bindings.Value{Kind: bindings.Double, Double: 2.5}), "2.5"},
		{`true`, bindings.StringValue("true"), map[string]any{"order": "true", "data": json.RawMessage(`true`)}, value(bindings.JSONValue([]byte("false"))), "false"},
		{`{"i":"y"}`, bindings.StringValue(`{"i":"y"}`), map[string]any{"order": `{"i":"y"}`, "data": json.RawMessage(`{"i":"y"}`), "i": "y"}, value(bindings.StringValue("")), `""`},
		{"null", bindings.Value{}, map[string]any{}, triggers.Result{}, "null"},
		{"null", bindings.Value{}, map[string]any{}, value(bindings.Value{}), "null"},
		{"null", bindings.Value{}, map[string]any{}, value(bindings.BytesValue([]byte("hi"))), `"aGk="`},
		{"null", bindings.Value{}, map[string]any{}, value(bindings.Value{Kind: bindings.Double, Double: math.NaN()}), "null"},
		{"null", bindings.Value{}, map[string]any{}, triggers.Result{Err: errors.New("boom")}, "failed: boom|at x"},
		{"null", bindings.Value{}, map[string]any{}, triggers.Result{Err: late{}}, "failed: late|at x"},
		{"null", bindings.Value{}, map[string]any{}, triggers.Result{Err: errors.New("boom"), Cancelled: true}, "aborted"},
	} {
		s := newStage(t)
		s.work.activities = []*contract.Activity{{Hub: "Hub", Instance: "i", Number: 3, Name: "charge", Input: tt.input, Delivery: 2}}
		sink := triggertest.NewSink(s.clk, func(context.Context, *triggers.Event) triggers.Result { return tt.res })
		heard := 0
		s.run(durable.Activities(s.clk, s.work, "Charge", "order", &durable.Options{
			Failed:   func(err error) (string, string) { return err.Error(), "at x" },
			Reported: func(*contract.Activity) { heard++ },
		}), sink)
		s.clk.Advance(time.Second)
		s.stop()
		ev := sink.Handled()[0]
		tt.meta["instanceId"] = "i"
		want := &triggers.Event{Source: "Hub/i", DeliveryCount: 2, Messages: []triggers.Message{{ID: "i#3", Value: tt.given, Metadata: tt.meta}}}
		if diff := cmp.Diff(ev, want); diff != "" {
			t.Errorf("%s: event (-got +want):\n%s", tt.input, diff)
		}
		decision := triggers.Reported
		if tt.want == "aborted" {
			decision = triggers.Released
		}
		if got := s.work.reported; len(got) != 1 || got[0] != "i#3 "+tt.want || sink.Settlements()[0].Settlement.Decision != decision || (heard == 1) != (decision == triggers.Reported) {
			t.Errorf("%s: reported %q, settled %+v, heard of %d; want %q, %s", tt.input, got, sink.Settlements()[0].Settlement, heard, tt.want, decision)
		}
	}
}

// A store that refuses the end of an activity is told in the settlement.
func TestActivityOfAFullStore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.work.full = true
	s.work.activities = []*contract.Activity{{Instance: "i", Input: "null"}}
	sink := triggertest.NewSink(s.clk, nil)
	s.run(durable.Activities(s.clk, s.work, "Charge", "order", nil), sink)
	s.clk.Advance(time.Second)
	s.stop()
	if got := sink.Settlements(); len(got) != 1 || !errors.Is(got[0].Settlement.Err, errFull) {
		t.Errorf("settled %+v", got)
	}
}

// A turn has its request as a text under the binding's value, and its reply is the hub's to
// understand (spec durable 3.1, 3.4, 5.9).
func TestTurns(t *testing.T) {
	t.Parallel()
	returned := func(v bindings.Value) triggers.Result { return triggers.Result{Returned: &v} }
	stopped := errors.New("killed")
	for name, tt := range map[string]struct {
		res  triggers.Result
		want contract.Reply
	}{
		"json":               {returned(bindings.JSONValue([]byte(`{"isDone":true}`))), contract.Reply{Value: `{"isDone":true}`}},
		"a text with json":   {returned(bindings.StringValue(`{"isDone":true}`)), contract.Reply{Value: `{"isDone":true}`}},
		"a text without":     {returned(bindings.StringValue(`hello`)), contract.Reply{Value: `"hello"`}},
		"nothing":            {triggers.Result{}, contract.Reply{Value: "null"}},
		"failed, with label": {triggers.Result{Err: errors.New("boom\n\n$OutOfProcData$:{}")}, contract.Reply{Failed: true, Message: "boom\n\n$OutOfProcData$:{}", Stack: "at x"}},
		"timed out":          {triggers.Result{Err: late{}}, contract.Reply{Aborted: late{}}},
		"stopped":            {triggers.Result{Err: stopped, Cancelled: true}, contract.Reply{Aborted: stopped}},
	} {
		s := newStage(t)
		s.work.turns = []*contract.Turn{{Hub: "Hub", Instance: "i", Request: `{"history":[]}`}}
		var got *triggers.Event
		sink := callSink{triggertest.NewSink(s.clk, nil), func(ev *triggers.Event) triggers.Result {
			got = ev
			return tt.res
		}}
		s.run(durable.Turns(s.clk, s.work, contract.Function{Name: "Order"}, &durable.Options{Failed: func(err error) (string, string) { return err.Error(), "at x" }}), sink)
		s.clk.Advance(time.Second)
		s.stop()
		want := &triggers.Event{Source: "Hub", Messages: []triggers.Message{{
			ID: "i", Value: bindings.StringValue(`{"history":[]}`), Metadata: map[string]any{"instanceId": "i"},
		}}}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: event (-got +want):\n%s", name, diff)
		}
		if len(s.work.finished) != 1 || s.work.finished[0] != tt.want {
			t.Errorf("%s: finished with %+v, want %+v", name, s.work.finished, tt.want)
		}
	}
}

// Turns of several instances run beside each other, and end before Run does.
func TestTurnsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.work.turns = []*contract.Turn{{Instance: "a"}, {Instance: "b"}}
	running := 0
	sink := callSink{triggertest.NewSink(s.clk, nil), func(*triggers.Event) triggers.Result {
		running++
		_ = s.clk.Sleep(context.Background(), time.Minute)
		return triggers.Result{}
	}}
	s.run(durable.Turns(s.clk, s.work, contract.Function{Name: "Order"}, nil), sink)
	s.clk.Advance(time.Second)
	s.stop()
	if running != 2 || len(s.work.finished) != 0 {
		t.Errorf("%d turns run, %d are finished; want 2, 0", running, len(s.work.finished))
	}
	s.clk.Advance(time.Minute)
	if len(s.work.finished) != 2 || s.err != nil {
		t.Errorf("%d turns are finished, error %v", len(s.work.finished), s.err)
	}
}

// A sink of deliveries alone is refused.
func TestTurnsNeedACaller(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run(durable.Turns(s.clk, s.work, contract.Function{}, nil), triggertest.NewSink(s.clk, nil))
	if s.err == nil {
		t.Error("Run returned nil")
	}
}

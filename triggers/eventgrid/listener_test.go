package eventgrid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventgrid"
	"github.com/redeliver/redeliver/triggers/serving"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func notification(n int) *bindings.HTTPRequest {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"%d","data":{"n":%d}}`, i, i))
	}
	return &bindings.HTTPRequest{
		Method: "POST", Body: []byte("[" + strings.Join(list, ",") + "]"),
		Header: http.Header{"Aeg-Event-Type": {"Notification"}, "Aeg-Delivery-Count": {"2"}, "Aeg-Subscription-Name": {"ALL"}},
	}
}

// stage is a listener that runs.
type stage struct {
	clk      *clock.Virtual
	listener *eventgrid.Listener
	sink     *triggertest.Sink
	cancel   context.CancelFunc
	group    *clock.Group
	ended    bool
}

func newStage(t *testing.T, opts *eventgrid.Options, handle func(context.Context, *triggers.Event) triggers.Result) *stage {
	s := &stage{clk: clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})}
	s.listener, s.group = eventgrid.New(s.clk, opts), clock.NewGroup(s.clk, 0)
	s.sink = triggertest.NewSink(s.clk, handle)
	s.clk.Do("start", func() {
		var ctx context.Context
		ctx, s.cancel = s.clk.WithCancel(context.Background())
		s.group.Go("listener", func() {
			if err := s.listener.Run(ctx, s.sink); err != nil {
				t.Error(err)
			}
			s.ended = true
		})
	})
	t.Cleanup(func() {
		s.clk.Do("stop", s.cancel)
		s.clk.Advance(time.Hour)
		if !s.ended {
			t.Error("the listener still runs")
		}
	})
	return s
}

func (s *stage) serve(req *bindings.HTTPRequest) (resp *bindings.HTTPResponse, err error) {
	s.clk.Do("serve", func() { resp, err = s.listener.Serve(context.Background(), req) })
	return resp, err
}

// Events of one request run side by side, each as a delivery of its own with the
// service's count; all of them are waited for.
func TestEventsSideBySide(t *testing.T) {
	t.Parallel()
	var seen []string
	var s *stage
	s = newStage(t, nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		seen = append(seen, fmt.Sprint(ev.Source, " ", ev.DeliveryCount, " ", ev.Messages[0].ID, " ", ev.Messages[0].Value.Text))
		_ = s.clk.Sleep(ctx, time.Second)
		if ev.Messages[0].ID == "1" {
			return triggers.Result{Err: errors.New("no")}
		}
		return triggers.Result{}
	})
	var resp *bindings.HTTPResponse
	s.clk.Do("serve", func() {
		s.group.Go("serve", func() { resp, _ = s.listener.Serve(context.Background(), notification(3)) })
	})
	if took := s.clk.Run(time.Minute); took != time.Second {
		t.Errorf("took %s, want a second for all", took)
	}
	if resp.StatusCode != 500 || string(resp.Body) != "no" {
		t.Errorf("answer %d %q, want 500 and the failure", resp.StatusCode, resp.Body)
	}
	settled := s.sink.Settlements()
	if len(settled) != 3 {
		t.Fatalf("%d settlements, want 3", len(settled))
	}
	for i, got := range settled {
		if want := (triggers.Settlement{Decision: triggers.Responded, Status: 500}); got.Settlement != want || got.Event.Messages[0].ID != strconv.Itoa(i) {
			t.Errorf("settlement %d of event %s: %+v, want %+v", i, got.Event.Messages[0].ID, got.Settlement, want)
		}
	}
	want := []string{`ALL 3 0 {"id":"0","data":{"n":0}}`, `ALL 3 1 {"id":"1","data":{"n":1}}`, `ALL 3 2 {"id":"2","data":{"n":2}}`}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// With cardinality many all events of a request are one delivery.
func TestBatch(t *testing.T) {
	t.Parallel()
	calls := 0
	s := newStage(t, &eventgrid.Options{Batch: true}, func(_ context.Context, ev *triggers.Event) triggers.Result {
		calls++
		if !ev.Batch || len(ev.Messages) != 3 {
			t.Errorf("delivery %+v, want a batch of three", ev)
		}
		return triggers.Result{}
	})
	if resp, err := s.serve(notification(3)); err != nil || resp.StatusCode != 202 || calls != 1 {
		t.Errorf("%v, %v after %d calls, want 202 after one", resp, err, calls)
	}
}

// A stopped listener takes nothing more. Deliveries in work keep their token for
// the grace, and the listener waits for them.
func TestStop(t *testing.T) {
	t.Parallel()
	var s *stage
	cut := time.Duration(0)
	s = newStage(t, nil, func(ctx context.Context, _ *triggers.Event) triggers.Result {
		began := s.clk.Now()
		err := s.clk.Sleep(ctx, time.Minute)
		cut = s.clk.Now().Sub(began)
		return triggers.Result{Err: err}
	})
	s.clk.Do("serve", func() {
		s.group.Go("serve", func() { _, _ = s.listener.Serve(context.Background(), notification(1)) })
	})
	s.clk.Do("stop", s.cancel)
	if _, err := s.serve(notification(1)); !errors.Is(err, serving.ErrNotRunning) {
		t.Errorf("%v, want that it does not run", err)
	}
	s.clk.Run(time.Hour)
	if cut != serving.Grace || !s.ended {
		t.Errorf("in work for %s, listener ended %v; want %s and true", cut, s.ended, serving.Grace)
	}
}

// Binding expressions see the data and the other properties of an event; in a batch
// they see the data of all, which has no properties.
func TestMessage(t *testing.T) {
	t.Parallel()
	var batch triggers.Message
	s := newStage(t, &eventgrid.Options{Batch: true}, func(_ context.Context, ev *triggers.Event) triggers.Result {
		batch = ev.Messages[0]
		return triggers.Result{}
	})
	if _, err := s.serve(notification(2)); err != nil {
		t.Fatal(err)
	}
	one := eventgrid.Message([]byte(`{"id":"7","subject":"s","data":{"a":{"b":"x"}}}`))
	if one.ID != "7" {
		t.Errorf("ID %q", one.ID)
	}
	for _, test := range []struct {
		message triggers.Message
		text    string
		want    string // or the error's beginning
	}{
		{one, "q-{data.a.b}", "q-x"},
		{one, "q-{DATA.A.b}", "q-x"},
		{one, "q-{id}-{Subject}", "q-7-s"},
		{one, "q-{topic}", "No value for named parameter 'topic'."},
		{eventgrid.Message([]byte(`{"id":"7","data":"text"}`)), "q-{data}", "q-text"},
		{eventgrid.Message([]byte(`{"id":"7","data":[1]}`)), "q-{data}-", "q--"},
		{batch, "q-{data.n}", "Error while accessing 'n': property doesn't exist."},
		{batch, "q-{id}", "No value for named parameter 'id'."},
	} {
		template, err := bindings.ParseTemplate(test.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := template.Resolve(&bindings.BindingData{Values: test.message.Metadata})
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
	if diff := cmp.Diff(map[string]any{"data": json.RawMessage(`[{"n":0},{"n":1}]`)}, batch.Metadata); diff != "" {
		t.Errorf("binding data of a batch (-want +got):\n%s", diff)
	}
}

func FuzzServe(f *testing.F) {
	f.Add("POST", "Notification", "", `[{"id":"1"}]`)
	f.Add("POST", "SubscriptionValidation", "", `{"data":"{\"validationCode\":\"x\"}"}`)
	f.Add("OPTIONS", "", "origin", "")
	f.Add("POST", "Notification", "", `[null, 1, {}]`)
	f.Fuzz(func(t *testing.T, method, kind, origin, body string) {
		s := newStage(t, nil, func(context.Context, *triggers.Event) triggers.Result { return triggers.Result{} })
		resp, err := s.serve(&bindings.HTTPRequest{
			Method: method, Body: []byte(body), Header: http.Header{"Aeg-Event-Type": {kind}, "Webhook-Request-Origin": {origin}},
		})
		if err != nil {
			t.Fatal(err)
		}
		switch resp.StatusCode {
		case 200, 202, 400, 409:
		default:
			t.Errorf("answer %d", resp.StatusCode)
		}
	})
}

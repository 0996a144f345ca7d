package bus_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

func serviceBusOptions() *servicebus.Options { return &servicebus.Options{} }

// plain connects with plain go-amqp, for the minute that a test may take.
func (w *world) plain(t testing.TB) (context.Context, *goamqp.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx, w.session(t, ctx)
}

// session is one connection more.
func (w *world) session(t testing.TB, ctx context.Context) *goamqp.Session {
	t.Helper()
	return w.sessionWith(t, ctx, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous()})
}

func (w *world) sessionWith(t testing.TB, ctx context.Context, opts *goamqp.ConnOptions) *goamqp.Session {
	t.Helper()
	nc, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	return sessionOver(t, ctx, nc, opts)
}

func sessionOver(t testing.TB, ctx context.Context, nc net.Conn, opts *goamqp.ConnOptions) *goamqp.Session {
	t.Helper()
	conn, err := goamqp.NewConn(ctx, nc, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cuttable is a session of a connection of its own; cut cuts that, and returns when the server
// is done with it.
func (w *world) cuttable(t testing.TB, ctx context.Context) (s *goamqp.Session, cut func()) {
	t.Helper()
	near, far := net.Pipe()
	server := amqp.NewServer(bus.New(w.clk, w.ns, nil), nil)
	var serving sync.WaitGroup
	serving.Go(func() { server.ServeConn(far) })
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
	return sessionOver(t, ctx, near, nil), func() {
		near.Close()
		serving.Wait()
	}
}

// manage asks the $management of an entity.
func (w *world) manage(t testing.TB, ctx context.Context, entity, operation string, body any) *goamqp.Message {
	t.Helper()
	request := &goamqp.Message{ApplicationProperties: map[string]any{"operation": operation}, Value: body}
	return ask(t, ctx, w.session(t, ctx), entity+"/$management", request)
}

func ask(t testing.TB, ctx context.Context, s *goamqp.Session, address string, request *goamqp.Message) *goamqp.Message {
	t.Helper()
	return askFor(t, ctx, s, address, request, 0)
}

// askFor is ask for an answer of at most that many bytes; 0 is no limit.
func askFor(t testing.TB, ctx context.Context, s *goamqp.Session, address string, request *goamqp.Message, most uint64) *goamqp.Message {
	t.Helper()
	answers, err := s.NewReceiver(ctx, address, &goamqp.ReceiverOptions{TargetAddress: "answers", MaxMessageSize: most})
	if err != nil {
		t.Fatal(err)
	}
	sender, err := s.NewSender(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close(ctx)
	defer answers.Close(ctx)
	request.Properties = &goamqp.MessageProperties{MessageID: "1", ReplyTo: ptr("answers")}
	if err := sender.Send(ctx, request, nil); err != nil {
		t.Fatal(err)
	}
	answer, err := answers.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Properties.CorrelationID != "1" {
		t.Errorf("correlation-id = %v", answer.Properties.CorrelationID)
	}
	return answer
}

// TestManagementFailures: the status, and the condition, of what cannot be done.
func TestManagementFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	w.queue(t, servicebusapi.Queue{Name: "s", RequiresSession: true})
	w.topic(t, "t", "sub")
	token := []goamqp.UUID{{1}}
	for name, tt := range map[string]struct {
		entity, operation string
		body              any
		status            int32
		condition         goamqp.Symbol
	}{
		"unknown operation":      {"q", "com.microsoft:dance", map[string]any{}, 501, "amqp:not-implemented"},
		"no map":                 {"q", "com.microsoft:renew-lock", "text", 400, "com.microsoft:argument-error"},
		"no tokens":              {"q", "com.microsoft:renew-lock", map[string]any{}, 400, "com.microsoft:argument-error"},
		"lost lock":              {"q", "com.microsoft:renew-lock", map[string]any{"lock-tokens": token}, 410, "com.microsoft:message-lock-lost"},
		"settle a lost lock":     {"q", "com.microsoft:update-disposition", map[string]any{"disposition-status": "completed", "lock-tokens": token}, 410, "com.microsoft:message-lock-lost"},
		"settle in another way":  {"q", "com.microsoft:update-disposition", map[string]any{"disposition-status": "eaten", "lock-tokens": token}, 400, "com.microsoft:argument-error"},
		"deferred unknown":       {"q", "com.microsoft:receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{9}, "receiver-settle-mode": uint32(1)}, 404, "com.microsoft:message-not-found"},
		"cancel unknown":         {"q", "com.microsoft:cancel-scheduled-message", map[string]any{"sequence-numbers": []int64{9}}, 404, "com.microsoft:message-not-found"},
		"schedule no message":    {"q", "com.microsoft:schedule-message", map[string]any{"messages": []any{map[string]any{"message": []byte{1}}}}, 400, "com.microsoft:argument-error"},
		"session not held":       {"s", "com.microsoft:renew-session-lock", map[string]any{"session-id": "a"}, 410, "com.microsoft:session-lock-lost"},
		"session of a plain one": {"q", "com.microsoft:get-session-state", map[string]any{"session-id": "a"}, 400, "amqp:not-allowed"},
		"rules of a queue":       {"q", "com.microsoft:enumerate-rules", map[string]any{"top": int32(1), "skip": int32(0)}, 400, "amqp:not-allowed"},
		"rule that is there":     {"t/Subscriptions/sub", "com.microsoft:add-rule", map[string]any{"rule-name": "$Default", "rule-description": map[string]any{"sql-filter": map[string]any{"expression": "1=1"}}}, 409, "com.microsoft:entity-already-exists"},
		"rule that is not":       {"t/Subscriptions/sub", "com.microsoft:remove-rule", map[string]any{"rule-name": "x"}, 404, "amqp:not-found"},
		"nothing to peek":        {"q", "com.microsoft:peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)}, 204, ""},
		"nothing to delete":      {"q", "com.microsoft:batch-delete-messages", map[string]any{"message-count": int32(1), "enqueued-time-utc": time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, 204, "com.microsoft:message-not-found"},
		"delete without a time":  {"q", "com.microsoft:batch-delete-messages", map[string]any{"message-count": int32(1)}, 400, "com.microsoft:argument-error"},
		"delete none":            {"q", "com.microsoft:batch-delete-messages", map[string]any{"message-count": int32(0), "enqueued-time-utc": time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, 400, "com.microsoft:argument-out-of-range"},
		"delete of a topic":      {"t", "com.microsoft:batch-delete-messages", map[string]any{"message-count": int32(1), "enqueued-time-utc": time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, 400, "amqp:not-allowed"},
		"no sessions":            {"s", "com.microsoft:get-message-sessions", map[string]any{"last-updated-time": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), "skip": int32(0), "top": int32(1)}, 204, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			answer := w.manage(t, ctx, tt.entity, tt.operation, tt.body)
			p := answer.ApplicationProperties
			if p["statusCode"] != tt.status || p["status-code"] != tt.status || p["statusDescription"] == "" {
				t.Errorf("status = %#v, want %d", p, tt.status)
			}
			condition, _ := p["errorCondition"].(goamqp.Symbol)
			if condition == "" {
				s, _ := p["errorCondition"].(string)
				condition = goamqp.Symbol(s)
			}
			if condition != tt.condition {
				t.Errorf("errorCondition = %#v, want %q", p["errorCondition"], tt.condition)
			}
		})
	}
}

// A client deletes messages that it has not received, as @azure/service-bus 7.10.0-beta.2
// asks for it.
func TestDeleteMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	w.do(t, func(ctx context.Context) error {
		return w.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "a"}, &servicebusapi.Message{MessageID: "b"}, &servicebusapi.Message{MessageID: "c"})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, want := range []int32{2, 1} {
		answer := w.manage(t, ctx, "q", "com.microsoft:batch-delete-messages", map[string]any{"message-count": int32(2), "enqueued-time-utc": w.clk.Now()})
		if body, _ := answer.Value.(map[string]any); answer.ApplicationProperties["statusCode"] != int32(200) || body["message-count"] != want {
			t.Errorf("answer %v with %v, want %d", answer.ApplicationProperties, answer.Value, want)
		}
	}
}

// TestRules adds rules of both kinds and reads them as the service writes them.
func TestRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.topic(t, "t", "s")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const entity = "t/Subscriptions/s"
	for name, description := range map[string]any{
		"sql":         map[string]any{"sql-filter": map[string]any{"expression": "a = 1"}, "sql-rule-action": map[string]any{"expression": "SET b = 2"}},
		"correlation": map[string]any{"correlation-filter": map[string]any{"label": "l", "properties": map[string]any{"k": int32(3)}}},
	} {
		if got := w.manage(t, ctx, entity, "com.microsoft:add-rule", map[string]any{"rule-name": name, "rule-description": description}).ApplicationProperties["statusCode"]; got != int32(200) {
			t.Fatalf("add-rule %s: status %v", name, got)
		}
	}
	if got := w.manage(t, ctx, entity, "com.microsoft:remove-rule", map[string]any{"rule-name": "$Default"}).ApplicationProperties["statusCode"]; got != int32(200) {
		t.Fatalf("remove-rule: status %v", got)
	}
	answer := w.manage(t, ctx, entity, "com.microsoft:enumerate-rules", map[string]any{"top": int32(10), "skip": int32(0)})
	encoded, err := answer.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.ParseMessage(encoded)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := m.Value()
	at := wire.TimestampOf(w.clk.Now())
	var got []any
	for _, r := range body.(wire.Map).Get("rules").(wire.List) {
		got = append(got, flatten(r.(wire.Map).Get("rule-description")))
	}
	want := []any{
		[]any{uint64(0x13700000004), []any{uint64(0x1370000009), nil, nil, nil, nil, "l", nil, nil, nil, wire.Map{{Key: "k", Value: int32(3)}}}, []any{uint64(0x13700000005)}, "correlation", at},
		[]any{uint64(0x13700000004), []any{uint64(0x1370000006), "a = 1", int32(20)}, []any{uint64(0x13700000006), "SET b = 2", int32(20)}, "sql", at},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestManyRules reads rules by pages of what fits into an answer.
func TestManyRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.topic(t, "t", "s")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const rules, most = 60, 32 << 10
	for i := range rules - 1 { // and $Default
		rule := servicebusapi.Rule{Name: strconv.Itoa(i), Filter: servicebusapi.Filter{
			Kind: servicebusapi.SQLFilter, SQL: servicebusapi.SQL{Expression: "a = '" + strings.Repeat("x", 900) + "'"},
		}}
		w.clk.Do("create rule", func() {
			if _, err := w.ns.CreateRule(ctx, "t", "s", rule); err != nil {
				t.Error(err)
			}
		})
	}
	s := w.session(t, ctx)
	seen, pages := 0, 0
	for ; seen < rules; pages++ {
		request := &goamqp.Message{
			ApplicationProperties: map[string]any{"operation": "com.microsoft:enumerate-rules"},
			Value:                 map[string]any{"top": int32(rules), "skip": int32(seen)},
		}
		answer := askFor(t, ctx, s, "t/Subscriptions/s/$management", request, most)
		page, _ := answer.Value.(map[string]any)["rules"].([]any)
		if len(page) == 0 {
			t.Fatalf("no rules behind %d of %d", seen, rules)
		}
		seen += len(page)
	}
	if pages < 2 {
		t.Errorf("%d rules came in %d pages", rules, pages)
	}
}

// flatten makes a described list one whose first element is the descriptor.
func flatten(v any) any {
	d, ok := v.(*wire.Described)
	if !ok {
		return v
	}
	list := []any{d.Descriptor}
	for _, item := range d.Value.(wire.List) {
		list = append(list, flatten(item))
	}
	return list
}

// TestClaims: tokens are believed, unless somebody checks them, and links need them if
// that is asked for.
func TestClaims(t *testing.T) {
	t.Parallel()
	checked := &bus.Options{RequireClaims: true, CheckToken: func(audience, kind, token string) error {
		if token != "good" {
			return context.Canceled
		}
		return nil
	}}
	w := newWorld(t, nil, checked)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	ctx, s := w.plain(t)
	if _, err := s.NewSender(ctx, "q", nil); !isCondition(err, goamqp.ErrCondUnauthorizedAccess) {
		t.Errorf("NewSender without a claim = %v", err)
	}
	for _, tt := range []struct {
		operation, name string
		body            any
		want            int32
	}{
		{"put-token", "amqp://host/Q/", "bad", 401},
		{"put-token", "amqp://host/Q/", int32(1), 400},
		{"put-token", "", "good", 400},
		{"take-token", "amqp://host/Q/", "good", 400},
		{"put-token", "amqp://host/Q/", "good", 202},
	} {
		request := &goamqp.Message{Value: tt.body, ApplicationProperties: map[string]any{"operation": tt.operation, "type": "jwt", "name": tt.name}}
		answer := ask(t, ctx, s, "$cbs", request)
		if got := answer.ApplicationProperties["status-code"]; got != tt.want {
			t.Errorf("%+v: status-code %v", tt, got)
		}
	}
	for _, address := range []string{"q", "amqps://elsewhere/Q", "/q/$management"} {
		if _, err := s.NewSender(ctx, address, nil); err != nil {
			t.Errorf("NewSender(%s) with a claim: %v", address, err)
		}
	}
}

func isCondition(err error, want goamqp.ErrCond) bool {
	e, ok := err.(*goamqp.Error)
	return ok && e.Condition == want
}

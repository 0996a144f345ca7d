package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestLostSessionStaysLost: a request counts as a request of the link that it
// names, on any connection. A client that has lost the session can neither
// renew it nor touch its state, whether the lock has ended or has another owner
// (spec messaging 1.10: status 410, nothing changes).
func TestLostSessionStaysLost(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"ended", "another holder", "detached"} {
		for _, from := range []string{"its connection", "another connection"} {
			for _, names := range []bool{true, false} { // whether the request names the link
				name := lost + ", from " + from
				if !names {
					name += ", no link named"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					testLostSession(t, lost, from == "its connection", names)
				})
			}
		}
	}
}

func testLostSession(t *testing.T, lost string, same, names bool) {
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w.do(t, func(ctx context.Context) error {
		return w.ns.Send(ctx, "q", &servicebus.Message{SessionID: ptr("s1")}, &servicebus.Message{SessionID: ptr("s1")})
	})
	own := w.session(t, ctx)
	r := holdSession(t, ctx, own, "first")
	m, err := r.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ModifyMessage(ctx, m, &goamqp.ModifyMessageOptions{UndeliverableHere: true}); err != nil {
		t.Fatal(err)
	}
	number := m.Annotations["x-opt-sequence-number"].(int64)
	asking := own
	if !same {
		asking = w.session(t, ctx)
	}
	request := func(operation string, args map[string]any) (status int32, condition any, body map[string]any) {
		t.Helper()
		args["session-id"] = "s1"
		properties := map[string]any{"operation": "com.microsoft:" + operation}
		if names {
			properties["associated-link-name"] = "first"
		}
		answer := ask(t, ctx, asking, "q/$management", &goamqp.Message{ApplicationProperties: properties, Value: args})
		body, _ = answer.Value.(map[string]any)
		return answer.ApplicationProperties["statusCode"].(int32), answer.ApplicationProperties["errorCondition"], body
	}
	if names || same {
		if status, condition, _ := request("set-session-state", map[string]any{"session-state": []byte("mine")}); status != 200 {
			t.Fatalf("set-session-state by the holder: %d %v", status, condition)
		}
		if status, condition, body := request("get-session-state", map[string]any{}); status != 200 || string(body["session-state"].([]byte)) != "mine" {
			t.Fatalf("get-session-state by the holder: %d %v, %v", status, condition, body)
		}
		if status, condition, _ := request("renew-session-lock", map[string]any{}); status != 200 {
			t.Fatalf("renew-session-lock by the holder: %d %v", status, condition)
		}
	}
	switch lost {
	case "detached":
		if err := r.Close(ctx); err != nil {
			t.Fatal(err)
		}
	default:
		w.clk.Advance(2 * time.Minute)
	}
	var other servicebus.Session
	want := "mine"
	if lost == "another holder" {
		w.do(t, func(ctx context.Context) (err error) {
			if other, err = w.ns.AcceptSession(ctx, "q", &servicebus.SessionOptions{SessionID: ptr("s1")}); err == nil {
				want = "theirs"
				err = other.SetState(ctx, []byte(want))
			}
			return err
		})
		w.clk.Advance(30 * time.Second)
	}
	if want == "mine" && !names && !same {
		w.do(t, func(ctx context.Context) error { return w.ns.SetSessionState(ctx, "q", "s1", []byte("mine")) })
	}
	for operation, args := range map[string]map[string]any{
		"renew-session-lock":         {},
		"set-session-state":          {"session-state": []byte("late")},
		"get-session-state":          {},
		"receive-by-sequence-number": {"sequence-numbers": []int64{number}, "receiver-settle-mode": uint32(1)},
		"update-disposition":         {"disposition-status": "completed", "lock-tokens": []goamqp.UUID{{1}}},
	} {
		if status, condition, body := request(operation, args); status != 410 || fmt.Sprint(condition) != "com.microsoft:session-lock-lost" {
			t.Errorf("%s: %d %v %v, want 410 session-lock-lost", operation, status, condition, body)
		}
	}
	w.do(t, func(ctx context.Context) error {
		state, err := w.ns.SessionState(ctx, "q", "s1")
		if string(state) != want {
			t.Errorf("state %q, want %q", state, want)
		}
		if other != nil {
			if until := other.LockedUntil(); !until.Equal(w.clk.Now().Add(30 * time.Second)) {
				t.Errorf("the lock of the other holder ends at %v: renewed by the holder that has lost it", until)
			}
		}
		return err
	})
}

// holdSession returns a link of that name, which holds session s1 of the queue "q".
func holdSession(t *testing.T, ctx context.Context, s *goamqp.Session, name string) *goamqp.Receiver {
	t.Helper()
	r, err := s.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{
		Name: name, Credit: 1, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(),
		Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, "s1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

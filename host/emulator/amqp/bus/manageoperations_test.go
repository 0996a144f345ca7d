package bus_test

import (
	"context"
	"testing"

	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// listed are the messages of an answer, and their lock tokens.
func listed(t *testing.T, answer *goamqp.Message) (messages []*goamqp.Message, tokens []any) {
	t.Helper()
	body, _ := answer.Value.(map[string]any)
	list, _ := body["messages"].([]any)
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		encoded, _ := fields["message"].([]byte)
		m := new(goamqp.Message)
		if err := m.UnmarshalBinary(encoded); err != nil {
			t.Fatal(err)
		}
		messages, tokens = append(messages, m), append(tokens, fields["lock-token"])
	}
	return messages, tokens
}

// TestPeekWithoutBodies: with omit-message-body a message comes with everything but its
// body (spec messaging 3.7).
func TestPeekWithoutBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	ctx, session := w.plain(t)
	sender, err := session.NewSender(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(ctx, &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "id"}, Data: [][]byte{[]byte("body")}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, omit := range []bool{false, true} {
		got, _ := listed(t, w.manage(t, ctx, "q", "com.microsoft:peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1), "omit-message-body": omit}))
		want := "body"
		if omit {
			want = ""
		}
		if len(got) != 1 || string(got[0].GetData()) != want || got[0].Properties.MessageID != "id" {
			t.Errorf("omit-message-body %v: %+v", omit, got)
		}
	}
}

// TestReceiveDeferredModes: receiver-settle-mode 0 receives and deletes, 1 locks (spec
// messaging 3.7).
func TestReceiveDeferredModes(t *testing.T) {
	t.Parallel()
	for mode, left := range []int64{0, 1} {
		w := newWorld(t, nil, nil)
		w.queue(t, servicebus.Queue{Name: "q"})
		number := w.deferOne(t)
		ctx, _ := w.plain(t)
		got, tokens := listed(t, w.manage(t, ctx, "q", "com.microsoft:receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{number}, "receiver-settle-mode": uint32(mode)}))
		if len(got) != 1 || string(got[0].GetData()) != "m" {
			t.Errorf("mode %d: %v", mode, got)
		} else if locked := tokens[0] != (goamqp.UUID{}); locked != (mode == 1) {
			t.Errorf("mode %d: lock token %v", mode, tokens[0])
		}
		if n := w.counts(t, "q").Total(); n != left {
			t.Errorf("mode %d leaves %d messages, want %d", mode, n, left)
		}
	}
}

// deferOne sends a message to the queue "q", defers it, and returns its number.
func (w *world) deferOne(t *testing.T) (number int64) {
	t.Helper()
	w.do(t, func(ctx context.Context) error {
		if err := w.ns.Send(ctx, "q", &servicebus.Message{Body: []byte("m"), ApplicationProperties: map[string]any{"own": "o"}}); err != nil {
			return err
		}
		r, err := w.ns.Receiver(ctx, "q", nil)
		if err != nil {
			return err
		}
		list, err := r.Receive(ctx, 1, 0)
		if err != nil {
			return err
		}
		number = list[0].SequenceNumber
		return w.ns.Settle(ctx, "q", servicebus.Settlement{Action: servicebus.Defer}, list[0].LockToken)
	})
	return number
}

// TestUpdateDisposition: each status of update-disposition, with the properties that it
// modifies and the reason of a dead letter (spec messaging 3.7).
func TestUpdateDisposition(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		counts servicebus.Counts
		more   map[string]any // beside the sender's property
	}{
		"completed": {servicebus.Counts{}, nil},
		"abandoned": {servicebus.Counts{Active: 1}, map[string]any{"new": int64(1)}},
		"defered":   {servicebus.Counts{Active: 1}, map[string]any{"new": int64(1)}},
		"suspended": {servicebus.Counts{DeadLetter: 1}, map[string]any{"new": int64(1), "DeadLetterReason": "why", "DeadLetterErrorDescription": "how"}},
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q"})
			number := w.deferOne(t)
			ctx, _ := w.plain(t)
			_, tokens := listed(t, w.manage(t, ctx, "q", "com.microsoft:receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{number}, "receiver-settle-mode": uint32(1)}))
			args := map[string]any{"disposition-status": status, "lock-tokens": []goamqp.UUID{tokens[0].(goamqp.UUID)}, "properties-to-modify": map[string]any{"new": int64(1)}}
			if status == "suspended" {
				args["deadletter-reason"], args["deadletter-description"] = "why", "how"
			}
			if got := w.manage(t, ctx, "q", "com.microsoft:update-disposition", args).ApplicationProperties["statusCode"]; got != int32(200) {
				t.Fatalf("status %v", got)
			}
			counts := w.counts(t, "q")
			counts.Active += counts.Deferred
			counts.Deferred = 0
			if diff := cmp.Diff(want.counts, counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			from := "q"
			if status == "suspended" {
				from = "q/$DeadLetterQueue"
			}
			left, _ := listed(t, w.manage(t, ctx, from, "com.microsoft:peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)}))
			if want.more == nil {
				if len(left) > 0 {
					t.Errorf("%d messages left", len(left))
				}
				return
			}
			all := map[string]any{"own": "o"}
			for k, v := range want.more {
				all[k] = v
			}
			if diff := cmp.Diff(all, left[0].ApplicationProperties); diff != "" {
				t.Errorf("application properties (-want +got):\n%s", diff)
			}
		})
	}
}

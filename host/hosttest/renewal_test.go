package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// A record of a renewed lock says which function's message it was. A renewal by a
// client is none of this host.
func TestLockRenewedIsOfThisHost(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Slow", "orders", func(ctx context.Context, _ functions.QueueMessage) error { return functions.Sleep(ctx, 7*time.Minute) })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	h.Send("other", "y")
	ctx, outside := context.Background(), &servicebus.ReceiverOptions{RealTime: true}
	session := &servicebus.SessionOptions{ReceiverOptions: *outside}
	id := "s"
	h.Clock().Do("client", func() {
		q := h.Services().Storage().Queue("other")
		got, err := q.Receive(ctx, 1, time.Minute)
		if err == nil {
			_, err = q.Update(ctx, got[0].ID, got[0].PopReceipt, nil, time.Hour)
		}
		ns := h.Services().ServiceBus()
		for _, d := range []servicebus.Queue{{Name: "plain"}, {Name: "sessions", RequiresSession: true}} {
			if err == nil {
				_, err = ns.CreateQueue(ctx, d)
			}
			if err == nil {
				err = ns.Send(ctx, d.Name, &servicebus.Message{MessageID: "m", SessionID: &id})
			}
		}
		if err != nil {
			t.Error(err)
			return
		}
		r, _ := ns.Receiver(ctx, "plain", outside)
		messages, err := r.Receive(ctx, 1, 0)
		if err == nil {
			_, err = r.Renew(ctx, messages[0])
		}
		s, acceptErr := ns.AcceptSession(ctx, "sessions", session)
		if err == nil && acceptErr == nil {
			_, err = s.RenewSession(ctx)
		}
		if err != nil || acceptErr != nil {
			t.Error(err, acceptErr)
		}
	})
	h.Advance(10 * time.Minute)
	var got []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.LockRenewed }) {
		got = append(got, r.Function+" "+r.Source)
	}
	if diff := cmp.Diff([]string{"Slow orders"}, got); diff != "" {
		t.Errorf("renewals (-want +got):\n%s", diff)
	}
}

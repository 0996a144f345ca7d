package eventgrid_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

// letters are the dead letters of a subscription of the topic orders.
func (b *bench) letters(subscription string) (list []*eventgrid.DeadLetter) {
	b.Helper()
	b.do(func(ctx context.Context) (err error) {
		list, err = b.grid.DeadLetters(ctx, "orders", subscription)
		return err
	})
	return list
}

// A dead letter goes back to its own subscription only, as it was delivered before, in
// both schemas, and becomes a dead letter again when that fails again.
func TestRedriveDeadLetter(t *testing.T) {
	t.Parallel()
	for _, schema := range []eventgrid.Schema{eventgrid.EventGridSchema, eventgrid.CloudEventSchema} {
		t.Run(string(schema), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = func(_ context.Context, url string, _ *eventgrid.Request) (*eventgrid.Response, error) {
				return &eventgrid.Response{Status: map[string]int{"F": 400, "Other": 200}[url]}, nil
			}
			b.subscribe(eventgrid.Subscription{Name: "Mine", Function: "F", EventDeliverySchema: schema, DeadLetterContainer: "dead"})
			b.subscribe(eventgrid.Subscription{Name: "other", Function: "Other"})
			b.publish("e", "f")
			b.clk.Advance(time.Hour)
			first := b.calls
			letters := b.letters("mine")
			if len(letters) != 2 || letters[0].Source() != "orders/Mine" || letters[0].Reason != "UndeliverableDueToClientError" || letters[0].Container != "dead" {
				t.Fatalf("dead letters = %+v", letters)
			}
			b.calls, b.records = nil, nil
			for _, d := range letters {
				b.do(func(ctx context.Context) error { return b.grid.Redrive(ctx, d) })
			}
			var moved []string
			for _, r := range b.records {
				if r.Kind == journal.Forwarded {
					moved = append(moved, r.Source+" "+r.MessageID+" "+r.Target+" "+r.Cause)
				}
			}
			want := []string{}
			for _, d := range letters {
				want = append(want, "dead/"+d.Name+" "+d.EventID+" orders/Mine redrive")
			}
			if diff := cmp.Diff(want, moved); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if left := b.blobs("dead"); len(left) != 0 {
				t.Errorf("blobs that were moved are there: %v", left)
			}
			b.clk.Advance(time.Second)
			bodies := map[string]bool{}
			for _, c := range first {
				if c.To == "F" {
					bodies[c.Body] = true
				}
			}
			for _, c := range b.calls {
				if c.To != "F" || !bodies[c.Body] {
					t.Errorf("sent again to %s: %s", c.To, c.Body)
				}
			}
			if len(b.calls) != 2 {
				t.Errorf("%d requests, want 2", len(b.calls))
			}
			b.clk.Advance(time.Hour)
			if again := b.letters("mine"); len(again) != 2 || string(again[0].Body) == string(letters[0].Body) {
				t.Errorf("it failed again: %v", again)
			}
		})
	}
}

// Two topics may have subscriptions of one name with one container: the event tells whose
// it is. Other blobs of the container are left alone.
func TestWhoseDeadLetter(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(400)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "returns"}) })
	for _, topic := range []string{"orders", "returns"} {
		b.do(func(ctx context.Context) error {
			_, err := b.grid.Subscribe(ctx, topic, eventgrid.Subscription{Name: "mine", Function: "F", DeadLetterContainer: "dead"})
			return err
		})
		b.publishTo(topic, "["+eventJSON("of-"+topic)+"]", eventgrid.EventGridSchema)
	}
	b.clk.Advance(time.Hour)
	for name, text := range map[string]string{
		"MINE/plain.txt": "no event", "MINE/two.json": "[{},{}]", "MINE/alive.json": "[" + eventJSON("e") + "]", "OTHER/x.json": "[]",
		"MINE/large.json": `[{"id":"e","deadLetterReason":"` + strings.Repeat("x", 80<<10) + `"}]`, "MINE/noid.json": `[{"deadLetterReason":"x"}]`,
	} {
		b.do(func(ctx context.Context) error {
			_, err := b.storage.Container("dead").Blob(name).Put(ctx, strings.NewReader(text), nil)
			return err
		})
	}
	letters := b.letters("mine")
	if len(letters) != 1 || letters[0].EventID != "of-orders" {
		t.Fatalf("dead letters of orders = %+v", letters)
	}
	found := map[string]string{}
	for name := range b.blobs("dead") {
		b.do(func(ctx context.Context) error {
			d, err := b.grid.DeadLetter(ctx, b.storage, "dead", name)
			if d != nil {
				found[d.EventID] = d.Source()
			}
			return err
		})
	}
	if diff := cmp.Diff(map[string]string{"of-orders": "orders/mine", "of-returns": "returns/mine"}, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What cannot be moved stays where it is, with the reason.
func TestRedriveRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(400)
	mine := eventgrid.Subscription{Name: "mine", Function: "F", EventDeliverySchema: eventgrid.CloudEventSchema, DeadLetterContainer: "dead"}
	b.subscribe(mine)
	b.subscribe(eventgrid.Subscription{Name: "none", Function: "F"})
	b.publish("e")
	b.clk.Advance(time.Hour)
	d := b.letters("mine")[0]
	refused := func(want string, code int) {
		t.Helper()
		err := b.try(func(ctx context.Context) error { return b.grid.Redrive(ctx, d) })
		if e, ok := errors.AsType[*eventgrid.Error](err); !ok || e.Status != code || !strings.Contains(e.Message, want) {
			t.Errorf("got %v, want %d with %q", err, code, want)
		}
	}
	var lease *blob.Lease
	at := b.storage.Container("dead").Blob(d.Name)
	b.do(func(ctx context.Context) (err error) {
		lease, err = at.AcquireLease(ctx, blob.InfiniteLease, "", nil)
		return err
	})
	refused("under a lease", 409)
	b.do(func(ctx context.Context) error {
		_, err := at.ReleaseLease(ctx, lease.ID, nil)
		return err
	})
	plain := mine
	plain.EventDeliverySchema = ""
	b.subscribe(plain)
	refused("is a cloud event", 409)
	b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "orders", "mine") })
	refused("does not exist", 404)
	if len(b.blobs("dead")) != 1 {
		t.Error("the dead letter is gone")
	}
	b.subscribe(mine)

	// A blob that cannot be deleted: the event is with its subscription all the same.
	b.fault = func(p storage.FaultPoint) error {
		if p.Op == "Delete" && p.Blob != "" && !p.After {
			return bindings.ErrUnavailable
		}
		return nil
	}
	err := b.try(func(ctx context.Context) error { return b.grid.Redrive(ctx, d) })
	if !errors.Is(err, bindings.ErrUnavailable) || !strings.Contains(err.Error(), "and in its dead letter") {
		t.Errorf("got %v", err)
	}
	if got := b.grid.Deliveries("orders", "mine"); len(got) != 1 || got[0].EventID != "e" {
		t.Errorf("the subscription has %+v", got)
	}
	b.fault = nil
	b.clk.Advance(time.Minute) // its lease has ended
	b.do(func(ctx context.Context) error { return b.grid.Redrive(ctx, d) })
	refused("is gone", 404)
	for name, want := range map[string]string{"none": "no container for dead letters", "other": "does not exist"} {
		err := b.try(func(ctx context.Context) error {
			_, err := b.grid.DeadLetters(ctx, "orders", name)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("dead letters of %s: %v, want %q", name, err, want)
		}
	}
}

package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// DeleteMessages takes what could be received and is old enough, in order, and nothing
// else; the store knows it.
func TestDeleteMessages(t *testing.T) {
	t.Parallel()
	db := openMemory(t, nil)
	b := &bench{T: t, clk: newVirtual()}
	b.group = clock.NewGroup(b.clk, 0)
	var err error
	if b.ns, err = servicebus.Open(b.clk, db, nil); err != nil {
		t.Fatal(err)
	}
	b.queue(servicebusapi.Queue{Name: "q"})
	r := b.receiver("q", nil)
	b.send("q", "locked", "deferred", "expires")
	held := b.receive(r, 2)
	b.do(func(ctx context.Context) error {
		if err := r.Defer(ctx, held[1], nil); err != nil {
			return err
		}
		_, err := b.ns.Schedule(ctx, "q", b.clk.Now().Add(time.Hour), &servicebusapi.Message{MessageID: "scheduled"})
		return err
	})
	b.send("q", "a", "b")
	before := b.clk.Now()
	b.clk.Advance(time.Second)
	b.send("q", "young")
	left := func() (ids []string) {
		t.Helper()
		list, err := b.ns.Peek(context.Background(), "q", nil, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			ids = append(ids, m.MessageID)
		}
		return ids
	}
	for _, tt := range []struct {
		n, want int
		left    []string
	}{
		{2, 2, []string{"locked", "deferred", "scheduled", "b", "young"}},
		{servicebus.MaxDelete, 1, []string{"locked", "deferred", "scheduled", "young"}},
		{1, 0, []string{"locked", "deferred", "scheduled", "young"}},
	} {
		b.do(func(ctx context.Context) error {
			n, err := b.ns.DeleteMessages(ctx, "q", nil, tt.n, before)
			if n != tt.want {
				t.Errorf("%d messages were deleted, want %d", n, tt.want)
			}
			return err
		})
		if diff := cmp.Diff(tt.left, left()); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
	}
	again, err := servicebus.Open(clock.NewVirtual(b.clk.Now(), nil), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(servicebus.Dump(b.ns), servicebus.Dump(again)); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

// With sessions messages are deleted by session.
func TestDeleteMessagesOfASession(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "s", RequiresSession: true})
	x, y := "x", "y"
	b.do(func(ctx context.Context) error {
		for _, id := range []*string{&x, &y, &x} {
			if err := b.ns.Send(ctx, "s", &servicebusapi.Message{SessionID: id}); err != nil {
				return err
			}
		}
		if _, err := b.ns.AcceptSession(ctx, "s", &servicebusapi.SessionOptions{SessionID: &x}); err != nil {
			return err
		}
		if n, err := b.ns.DeleteMessages(ctx, "s", &x, 10, b.clk.Now()); err != nil || n != 2 {
			t.Errorf("DeleteMessages of x = %d, %v, want 2", n, err)
		}
		if _, err := b.ns.DeleteMessages(ctx, "s", nil, 10, b.clk.Now()); !errors.Is(err, messaging.ErrNotAllowed) {
			t.Errorf("DeleteMessages without a session = %v, want ErrNotAllowed", err)
		}
		list, err := b.ns.Peek(ctx, "s", nil, 0, 10)
		if err != nil || len(list) != 1 || *list[0].SessionID != "y" {
			t.Errorf("left: %d messages, %v, want that of y", len(list), err)
		}
		for _, n := range []int{0, -1, servicebus.MaxDelete + 1} {
			if _, err := b.ns.DeleteMessages(ctx, "s", &y, n, b.clk.Now()); err == nil {
				t.Errorf("%d messages were asked for, and no error", n)
			}
		}
		return nil
	})
}

package servicebus_test

import (
	"bytes"
	"context"
	"testing"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// A lock token of a state that was replaced settles no message of the state that has
// come: no token is given twice.
func TestTokensAreNotRepeatedAfterLoad(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	test := func(t *testing.T, b *bench, save func() (load func() error)) {
		b.do(func(context.Context) error {
			_, err := b.ns.CreateQueue(ctx, servicebusapi.Queue{Name: "orders"})
			return err
		})
		b.do(func(context.Context) error {
			return b.ns.Send(ctx, "orders", &servicebusapi.Message{MessageID: "7"})
		})
		load := save()
		r, err := b.ns.Receiver(ctx, "orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		receive := func() (m *servicebusapi.Received) {
			b.do(func(context.Context) error {
				ms, err := r.Receive(ctx, 1, 0)
				if len(ms) == 1 {
					m = ms[0]
				}
				return err
			})
			if m == nil {
				t.Fatal("no message")
			}
			return m
		}
		before := receive()
		b.do(func(context.Context) error { return load() })
		after := receive()
		b.clk.Do("settle", func() {
			if err := r.Complete(ctx, before); err == nil {
				t.Errorf("the delivery of before, with token %s, has completed the message of now, with token %s", before.LockToken, after.LockToken)
			}
		})
		b.do(func(context.Context) error { return r.Complete(ctx, after) })
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebus.Options{})
		test(t, b, func() func() error {
			snap, err := b.ns.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return b.ns.Load(snap) }
		})
	})
	t.Run("durable", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebus.Options{})
		db := openMemory(t, nil)
		ns, err := servicebus.Open(b.clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.ns = ns
		test(t, b, func() func() error {
			var saved bytes.Buffer
			if err := db.Save(&saved); err != nil {
				t.Fatal(err)
			}
			return func() error { return db.Load(&saved) }
		})
	})
}

package servicebus_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// A purge of one queue of an entity leaves the messages of the others, between whose
// numbers are its own, in the store too.
func TestPurgeLeavesTheOtherQueues(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"q", "q/$DeadLetterQueue"} {
		db := openMemory(t, nil)
		b := &bench{T: t, clk: newVirtual()}
		b.group = clock.NewGroup(b.clk, 0)
		var err error
		if b.ns, err = servicebus.Open(b.clk, db, nil); err != nil {
			t.Fatal(err)
		}
		b.queue(servicebusapi.Queue{Name: "q"})
		r := b.receiver("q", nil)
		for i := range 20 {
			b.send("q", fmt.Sprint(i))
			if i%7 != 2 && i != 0 && i != 19 && i%5 != 0 {
				continue
			}
			for _, m := range b.receive(r, 1) {
				b.do(func(ctx context.Context) error { return r.DeadLetter(ctx, m, "reason", "", nil) })
			}
		}
		dead, err := b.ns.Peek(context.Background(), "q/$DeadLetterQueue", nil, 0, 100)
		if err != nil || len(dead) < 5 {
			t.Fatalf("%d dead letters, %v", len(dead), err)
		}
		want := 20 - len(dead)
		if source != "q" {
			want = len(dead)
		}
		b.do(func(ctx context.Context) error {
			n, err := b.ns.Purge(ctx, source)
			if n != want {
				t.Errorf("%d messages were removed from %s, want %d", n, source, want)
			}
			return err
		})
		again, err := servicebus.Open(clock.NewVirtual(b.clk.Now(), nil), db, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(servicebus.Dump(b.ns), servicebus.Dump(again)); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
		left, err := b.ns.Peek(context.Background(), "q/$DeadLetterQueue", nil, 0, 100)
		if err != nil || source == "q" && len(left) != len(dead) {
			t.Errorf("%d dead letters are left, %v, want %d", len(left), err, len(dead))
		}
	}
}

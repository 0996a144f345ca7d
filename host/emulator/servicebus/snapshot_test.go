package servicebus_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestSnapshots(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, b *bench) *servicebus.Namespace{
		"memory": func(_ *testing.T, b *bench) *servicebus.Namespace { return servicebus.New(b.clk, nil) },
		"durable": func(t *testing.T, b *bench) *servicebus.Namespace {
			ns, err := servicebus.Open(b.clk, openMemory(t, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			return ns
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.ns = open(t, b)
			w := &randomWork{Rand: rand.New(rand.NewPCG(5, 1)), clk: b.clk, ns: b.ns}
			b.do(w.setup)
			work := func() {
				for range 300 {
					b.clk.Do("work", func() { w.step(context.Background()) })
				}
			}
			work()
			var snap *store.Image
			b.do(func(context.Context) (err error) {
				snap, err = b.ns.Snapshot()
				return err
			})
			want := servicebus.Dump(b.ns)
			same := func(what string, ns *servicebus.Namespace) {
				t.Helper()
				if diff := cmp.Diff(want, servicebus.Dump(ns)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			for range 2 {
				work()
				b.do(func(context.Context) error { return b.ns.Restore(snap) })
				same("Restore", b.ns)
			}
			work() // the plain receiver goes on
			other := open(t, b)
			b.do(func(context.Context) error { return other.Load(snap) })
			same("Load", other)
			b.clk.Do("load", func() {
				bad := store.NewImage(func(w store.Writer) { snap.CopyTo(w); w.Set([]byte("buse!"), []byte("nonsense")) })
				if err := other.Load(bad); err == nil {
					t.Error("Load of nonsense succeeded")
				}
				if err := other.Check(bad); err == nil {
					t.Error("Check found nothing in nonsense")
				}
			})
			same("after Load of nonsense", other)
			b.clk.Advance(time.Hour)
		})
	}
}

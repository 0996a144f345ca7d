package eventhubs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
)

// Two hosts share the partitions; one that stops gives its own back, one that dies
// loses them when they expire.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	a := w.listen(&eventhubs.Options{Owner: "a"}, nil)
	if got := w.owners(4); got != "a a a a" {
		t.Errorf("owners %q with one host", got)
	}
	b := w.listen(&eventhubs.Options{Owner: "b"}, nil)
	if got := w.owners(4); got != "a a b b" {
		t.Errorf("owners %q with two hosts", got)
	}
	w.clk.Advance(31 * time.Second) // the first one finds out
	for i := range 4 {
		w.send(i, fmt.Sprint("e", i))
	}
	w.wantHandled(a, "0: e0", "1: e1")
	w.wantHandled(b, "2: e2", "3: e3")
	a.stop()
	w.clk.Advance(31 * time.Second)
	if got := w.owners(4); got != "b b b b" {
		t.Errorf("owners %q after one has stopped", got)
	}
	for i := range 4 {
		w.send(i, fmt.Sprint("f", i))
	}
	if got := b.handled(); len(got) != 6 || len(a.handled()) != 2 {
		t.Errorf("deliveries of a %q, of b %q", a.handled(), got)
	}
}

// A partition that another host takes in the middle of a batch: the token and the
// handler's context end, no checkpoint is written, and the other host has the events
// again.
func TestRebalanceInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.send(1, "x")
	recalled := map[string]int{}
	a := w.listen(&eventhubs.Options{Owner: "a", Batch: true}, func(ctx context.Context, ev *triggers.Event) error {
		defer ev.Recall.Running(func() { recalled["a"]++ })()
		return w.clk.Sleep(ctx, time.Hour)
	})
	b := w.listen(&eventhubs.Options{Owner: "b", Batch: true}, func(ctx context.Context, ev *triggers.Event) error {
		defer ev.Recall.Running(func() { recalled["b"]++ })()
		return w.clk.Sleep(ctx, 10*time.Minute)
	})
	w.wantHandled(a, "1: x")
	w.wantHandled(b, "1: x")
	w.clk.Advance(time.Minute)
	if diff := cmp.Diff([]string{"not_checkpointed"}, a.decisions()); diff != "" || w.sequence(1) != "" {
		t.Errorf("checkpoint %q, decisions of the loser (-want +got):\n%s", w.sequence(1), diff)
	}
	w.clk.Advance(10 * time.Minute)
	if diff := cmp.Diff([]string{"checkpointed"}, b.decisions()); diff != "" || w.sequence(1) != "0" {
		t.Errorf("checkpoint %q, decisions of the winner (-want +got):\n%s", w.sequence(1), diff)
	}
	if diff := cmp.Diff(map[string]int{"a": 1}, recalled); diff != "" {
		t.Errorf("handlers whose context ended (-want +got):\n%s", diff)
	}
}

// The partitions of a host that died are free after the expiration; half of them are
// taken at once, as from a host that lives.
func TestDeadHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	store := eventhubs.NewStore(w.container(), "Contoso.local", "Orders", "$Default")
	w.do(func(ctx context.Context) error {
		if err := store.Prepare(ctx); err != nil {
			return err
		}
		for i := range 4 {
			if _, err := store.Claim(ctx, eventhubs.Ownership{Partition: fmt.Sprint(i)}, "dead"); err != nil {
				return err
			}
		}
		return nil
	})
	w.listen(&eventhubs.Options{Owner: "b"}, nil)
	if got := w.owners(4); got != "dead dead b b" {
		t.Errorf("owners %q at once", got)
	}
	w.clk.Advance(119 * time.Second)
	if got := w.owners(4); got != "dead dead b b" {
		t.Errorf("owners %q before the expiration", got)
	}
	w.clk.Advance(32 * time.Second)
	if got := w.owners(4); got != "b b b b" {
		t.Errorf("owners %q after the expiration", got)
	}
}

// Balanced takes one partition at a look.
func TestBalancedStrategy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.listen(&eventhubs.Options{Owner: "a", Balanced: true}, nil)
	for _, want := range []string{"a  ", "a a ", "a a a"} {
		if got := w.owners(3); got != want {
			t.Errorf("owners %q, want %q", got, want)
		}
		w.clk.Advance(30 * time.Second)
	}
}

// With any numbers, hosts end with shares that differ by one at most, and no host
// takes another partition.
func TestBalanceSettles(t *testing.T) {
	t.Parallel()
	for partitions := 1; partitions <= 9; partitions += 2 {
		for hosts := 1; hosts <= 4; hosts++ {
			w := newWorld(t, partitions)
			for i := range hosts {
				w.listen(&eventhubs.Options{Owner: fmt.Sprint("h", i)}, nil)
			}
			w.clk.Advance(5 * time.Minute)
			before := w.owners(partitions)
			counts := map[string]int{}
			for _, o := range strings.Fields(before) {
				counts[o]++
			}
			for o, n := range counts {
				if n < partitions/hosts || n > (partitions+hosts-1)/hosts {
					t.Errorf("%d partitions, %d hosts: %q, %s has %d", partitions, hosts, before, o, n)
				}
			}
			w.clk.Advance(5 * time.Minute)
			if after := w.owners(partitions); after != before {
				t.Errorf("%d partitions, %d hosts: %q became %q", partitions, hosts, before, after)
			}
		}
	}
}

// A claim succeeds for one of two who saw the same.
func TestClaimIsExclusive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	store := eventhubs.NewStore(w.container(), "n", "h", "g")
	w.do(func(ctx context.Context) error {
		if err := store.Prepare(ctx); err != nil {
			return err
		}
		first, err := store.Claim(ctx, eventhubs.Ownership{Partition: "0"}, "a")
		if err != nil {
			return err
		}
		if _, err := store.Claim(ctx, eventhubs.Ownership{Partition: "0"}, "b"); err == nil {
			t.Error("a second claim to a free partition succeeded")
		}
		if _, err := store.Claim(ctx, first, "b"); err != nil {
			return err
		}
		if _, err := store.Claim(ctx, first, "a"); err == nil {
			t.Error("a claim with an old ETag succeeded")
		}
		return nil
	})
}

package durable_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// Spec durable 11.3: the clock names every timer, not the next one alone.
func TestClockNamesTimers(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("any[tim 2h, tim 1h] —", "any[tim 2h x, tim 1h], done 1")
		b.orchestrators["Later"] = plans("tim 3h —", "tim 3h, done 1")
	})
	b.start("O", "i1")
	b.start("Later", "i2")
	due := func() string {
		var list []string
		for _, w := range b.clk.Due(9, func(w clock.Wait) bool { return w.Work }) {
			list = append(list, w.Name)
		}
		return strings.Join(list, ", ")
	}
	if got := due(); got != "timer #1 of i1, timer #0 of i1, timer #0 of i2" {
		t.Errorf("due are %s", got)
	}
	b.clk.Advance(time.Hour)
	if got := due(); got != "timer #0 of i2" {
		t.Errorf("an hour later due are %s", got)
	}
	b.clk.Do("stop", b.cancel)
	b.clk.Do("nobody serves", func() { b.hub.Serve("app", api.Functions{}) })
	if got := due(); got != "" {
		t.Errorf("without functions work waits for %s", got)
	}
}

// What an instance waits for is known after a restart, events too.
func TestWaitsAfterARestart(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(b *bench) {
		b.db = db
		b.orchestrators["O"] = plans("all[tim 2h, ev ok, ev Go, act A] —")
		b.activities["A"] = func(*api.Activity) api.Reply { return api.Reply{Aborted: b.clk.Sleep(b.ctx, 9*time.Hour)} }
	})
	b.start("O", "i1")
	before := fmt.Sprint(b.instance("i1").Open)
	b.stop()
	b.open()
	if after := fmt.Sprint(b.instance("i1").Open); after != before || !strings.Contains(after, "Go") {
		t.Errorf("waits for %s after a restart, %s before", after, before)
	}
	b.raise("i1", "go", "1")
	said := b.kinds(journal.EventRaised, func(r *journal.Record) string { return r.Status })
	if fmt.Sprint(said) != "[delivered]" {
		t.Errorf("the event was %v", said)
	}
}

// An event that continue-as-new has dropped is told so.
func TestDroppedEventsAreTold(t *testing.T) {
	t.Parallel()
	turns := 0
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = func(*api.Turn) api.Reply {
			switch turns++; {
			case turns <= 2:
				return reply("tim 1h —")
			case turns == 3:
				return reply("tim 1h, can 1, done")
			}
			return reply("ev x —")
		}
	})
	b.start("O", "i1")
	b.clk.Advance(time.Minute)
	b.raise("i1", "go", "1")
	b.clk.Advance(time.Hour)
	said := b.kinds(journal.EventRaised, func(r *journal.Record) string { return r.Name + " " + r.Status })
	if fmt.Sprint(said) != "[go buffered go dropped]" {
		t.Errorf("the event was %v", said)
	}
}

// A child takes the place of a running instance with its id [R5]; what waits for the old
// one waits on.
func TestChildTakesAnID(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["Waits"] = plans("ev ok —")
		b.orchestrators["Kid"] = plans("done 7")
		b.orchestrators["O"] = plans("sub Kid as x —", "sub Kid as x, done 1")
	})
	b.start("Waits", "x")
	b.start("O", "i1")
	b.run()
	b.want("i1", api.Completed, "1")
	if got := b.want("x", api.Completed, "7"); got.Name != "Kid" || got.Parent != "i1" {
		t.Errorf("x is %s of %q", got.Name, got.Parent)
	}
}

// ExecutionStarted counts the starts of an id by clients; those of parents and of
// continue-as-new have no count [R4][R5].
func TestStartsAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["Kid"] = plans("done 7")
		b.orchestrators["O"] = plans("sub Kid as kid —", "sub Kid as kid, done 1")
		b.orchestrators["Again"] = func(t *api.Turn) api.Reply {
			if strings.Contains(t.Request, `"input":2`) {
				return reply("done 1")
			}
			return reply("can 2, done")
		}
	})
	starts := func(id string) int {
		for _, e := range b.instance(id).History {
			if e.Type == api.ExecutionStarted {
				return e.Starts
			}
		}
		return -1
	}
	for _, id := range []string{"i1", "i1", "again"} {
		b.start(map[bool]string{true: "Again", false: "O"}[id == "again"], id)
		b.run()
	}
	if i1, kid, again := starts("i1"), starts("kid"), starts("again"); i1 != 2 || kid != 0 || again != 0 {
		t.Errorf("starts %d, of the child %d, after continue-as-new %d", i1, kid, again)
	}
	b.do(func(ctx context.Context) error { _, err := b.hub.Purge(ctx, "i1", "cli"); return err })
	b.start("O", "i1")
	if got := starts("i1"); got != 1 {
		t.Errorf("starts %d after a purge", got)
	}
}

// The reasons of suspend and resume are the output until the instance ends [R5]; none is
// none.
func TestReasonsStay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("ev ok —", "ev ok —", "ev ok —", "ev ok —", "ev ok, done 1")
	})
	b.start("O", "i1")
	control := func(c api.Command, reason string) {
		b.do(func(ctx context.Context) error {
			return b.hub.Control(ctx, "i1", api.Control{Command: c, Reason: reason})
		})
	}
	control(api.Suspend, "pause")
	b.want("i1", api.Suspended, "pause")
	control(api.Resume, "on")
	b.want("i1", api.Running, "on")
	control(api.Suspend, "")
	got := b.want("i1", api.Suspended, "")
	for _, e := range got.History {
		if e.Type == api.ExecutionSuspended && e.Reason != nil && *e.Reason == "" {
			t.Error("a suspension without a reason has an empty one")
		}
	}
}

// A poll lets a clock go on that stands still without it, and waits on no other.
func TestPollsOfClocks(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.orchestrators["O"] = plans("tim 10s —", "tim 10s, done 1") })
	b.start("O", "i1")
	b.alongside(func(ctx context.Context) error { return b.hub.AllowPoll(ctx, "i1", time.Second) })
	b.clk.Real()
	defer b.clk.Close()
	before := b.clk.Now()
	b.do(func(ctx context.Context) error { return b.hub.AllowPoll(ctx, "i1", time.Hour) })
	if passed := b.clk.Now().Sub(before); passed > time.Minute {
		t.Errorf("the poll took %s", passed)
	}
}

// Two apps in one hub have their own places.
func TestPlacesOfApps(t *testing.T) {
	t.Parallel()
	var most *int
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("all[act A, act A, act B, act B] —")
		most = b.atATime("A", "B")
		b.functions.MaxActivities = 1
	})
	b.clk.Do("another app", func() {
		b.hub.Serve("app", api.Functions{MaxActivities: 1, Known: []api.Function{{Kind: api.Orchestrator, Name: "O"}, {Kind: api.Activities, Name: "A"}}})
		b.hub.Serve("other", api.Functions{MaxActivities: 1, Known: []api.Function{{Kind: api.Activities, Name: "B"}}})
	})
	b.start("O", "i1")
	b.run()
	if *most != 2 || b.elapsed() != 2*time.Second {
		t.Errorf("at most %d at a time, in %s", *most, b.elapsed())
	}
}

// A child has neither the id of its own parent nor that of an entity: by the protobuf protocol
// a worker can ask for both.
func TestChildLeavesParentAndEntity(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"i1", "@counter@k"} {
		b := newBench(t, func(b *bench) {
			protobuf(b, "dotnet-isolated")
			b.orchestrators["O"] = sends(`actions {create_sub_orchestration {name: "O" instance_id: "`+id+`"}}`, done)
			b.entities["counter"] = func(*api.Turn) api.Reply {
				return written(&pb.EntityBatchResult{}, `results {success {result {value: "1"}}} entity_state {value: "5"}`)
			}
		})
		b.do(func(ctx context.Context) error {
			return b.hub.Signal(ctx, api.EntityID{Name: "counter", Key: "k"}, "add", "1", time.Time{}, "http")
		})
		b.start("O", "i1")
		b.run()
		b.want("i1", api.Completed, `"done"`)
		b.do(func(ctx context.Context) error {
			_, err := b.hub.Entity(ctx, api.EntityID{Name: "counter", Key: "k"})
			return err
		})
	}
}

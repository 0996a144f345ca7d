package durable_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// everything is an app that has one of each thing open.
func everything(b *bench) {
	waitsAndEnds(b)
	b.entities["Counter"] = counter
	b.orchestrators["O"] = func(turn *api.Turn) api.Reply {
		plan := "sig @counter@k add 5, all[act A, retry B(1h,3,×2), tim 10d, sub Waits, ev go]"
		if strings.Contains(turn.Request, `"go"`) && strings.Contains(turn.Request, `"TimerId":3,"FireAt":"2030-01-11`) {
			return reply(plan + ", done 1")
		}
		return reply(plan + " —")
	}
	b.activities["A"] = returns("1")
	b.activities["B"] = throws("no")
}

// dump is the whole state.
func dump(t *testing.T, e *durable.Engine) (out []string) {
	t.Helper()
	image, err := e.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	_ = image.Scan([]byte(""), []byte("\xff"), func(k, v []byte) error {
		if string(k) != "durable!time" {
			out = append(out, fmt.Sprintf("%q=%s", k, v))
		}
		return nil
	})
	return out
}

// What is in memory is in the store: an engine that is opened anew is the same, at each
// step, and goes on to the same end.
func TestOpenedAnew(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(b *bench) { everything(b); b.db = db })
	steps := []func(){
		func() { b.start("O", "i1"); b.start("Ends", "i2"); b.start("Fails", "i3") },
		func() { b.clk.Advance(time.Minute) },
		func() { b.clk.Advance(2 * time.Hour) },
		func() { b.raise("i1", "go", "1") },
		func() { b.clk.Advance(5 * 24 * time.Hour) },
		func() {
			b.do(func(ctx context.Context) error {
				return b.hub.Signal(ctx, api.EntityID{Name: "counter", Key: "later"}, "add", "1", b.clk.Now().Add(time.Hour), "http")
			})
		},
		func() {
			b.do(func(ctx context.Context) error {
				_, err := b.hub.Purge(ctx, "i2", "cli")
				return err
			})
		},
	}
	for i, step := range steps {
		step()
		before := dump(t, b.engine)
		b.stop()
		b.open()
		b.clk.Advance(0)
		if diff := cmp.Diff(before, dump(t, b.engine)); diff != "" {
			t.Fatalf("after step %d (-before +opened anew):\n%s", i, diff)
		}
	}
	b.run()
	inst := b.want("i1", api.Running, "")
	child := inst.Open[len(inst.Open)-1].Name
	b.raise(child, "go", "1")
	b.run()
	if b.entityState("k") != "5" || b.entityState("later") != "1" {
		t.Errorf("entities %q, %q", b.entityState("k"), b.entityState("later"))
	}
}

// T-42: a timer of ten days fires at the same instant after a restart in its midst.
func TestTimerOverARestart(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(b *bench) {
		b.db = db
		b.orchestrators["O"] = plans("tim 10d —", "tim 10d —", "tim 10d —", "tim 10d —", "tim 10d, done 1")
	})
	b.start("O", "i1")
	b.clk.Advance(4 * 24 * time.Hour)
	b.stop()
	b.open()
	b.run()
	b.want("i1", api.Completed, "1")
	if b.elapsed() != 10*24*time.Hour {
		t.Errorf("ended after %s", b.elapsed())
	}
}

// An activity whose host dies before its result is written is delivered again; what was
// read by a turn that was not committed is read again.
func TestDeliveredAgain(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(b *bench) {
		b.db = db
		b.orchestrators["O"] = plans("act A —", "act A, done 1")
		b.activities["A"] = returns("1")
	})
	hub := func() *durable.Hub {
		e, err := durable.Open(b.clk, db, &durable.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		h := e.Hub("Other")
		h.Serve("app", api.Functions{Known: []api.Function{{Kind: api.Orchestrator, Name: "O"}, {Kind: api.Activities, Name: "A"}}})
		return h
	}
	b.do(func(ctx context.Context) error {
		h := hub()
		if _, err := h.Start(ctx, api.Start{Name: "O", ID: "i1"}); err != nil {
			return err
		}
		if _, err := h.NextTurn(ctx, api.Function{Name: "O"}); err != nil {
			return err
		}
		h = hub() // the turn is lost
		turn, err := h.NextTurn(ctx, api.Function{Name: "O"})
		if err != nil || turn.Number != 1 {
			return fmt.Errorf("%+v: %w", turn, err)
		}
		if err := h.Finish(ctx, turn, notation.Reply("act A —")); err != nil {
			return err
		}
		for delivery := int64(1); delivery < 4; delivery++ {
			h = hub()
			a, err := h.NextActivity(ctx, "a")
			if err != nil || a.Delivery != delivery {
				return fmt.Errorf("%+v, want delivery %d: %w", a, delivery, err)
			}
		}
		return nil
	})
}

// A state that is loaded takes the place of what is there; who waits for work goes on, and
// what was out changes nothing any more.
func TestReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t, everything)
	b.start("Waits", "i1")
	b.clk.Advance(0)
	image, err := b.engine.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	b.raise("i1", "go", "1")
	b.start("Ends", "i2")
	b.clk.Advance(0)
	b.do(func(context.Context) error { return b.engine.Restore(image) })
	b.do(func(ctx context.Context) error {
		if _, err := b.hub.Instance(ctx, "i2", api.Read{}); !api.Is(err, api.CodeNotFound) {
			return fmt.Errorf("i2 is there: %w", err)
		}
		return nil
	})
	b.start("Ends", "i3")
	b.run()
	b.want("i3", api.Completed, "1")
	b.do(func(context.Context) error { return b.engine.Reset() })
	b.start("Ends", "i1")
	b.run()
	b.want("i1", api.Completed, "1")
}

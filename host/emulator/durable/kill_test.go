package durable_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) {
	storetest.Child(map[string]storetest.Work{"": workUntilKilled})
	leaktest.Main(m)
}

// The app of the process that is killed: one activity, then the end.
var killedApp = api.Functions{Known: []api.Function{{Kind: api.Orchestrator, Name: "O"}, {Kind: api.Activities, Name: "A"}}} // read only

func killedHub(e *durable.Engine, name string) *durable.Hub {
	h := e.Hub(name)
	h.Serve("app", killedApp)
	return h
}

// workUntilKilled has clients that start instances in hubs of their own and do their work,
// and say what has been acknowledged.
func workUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	e, err := durable.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	return func(w *storetest.Writer) error {
		h := killedHub(e, fmt.Sprintf("hub%d", w.Number))
		for i := 0; ; i++ {
			id := fmt.Sprintf("%d-%d-%d", w.Process, w.Number, i)
			w.Say("starting", id)
			if _, err := h.Start(ctx, api.Start{Name: "O", ID: id}); err != nil {
				return err
			}
			w.Say("started", id)
			if err := oneTurn(ctx, h, "act A —", "act A, done 1"); err != nil {
				return err
			}
			a, err := h.NextActivity(ctx, "A")
			if err != nil {
				return err
			}
			w.Say("ran", a.Instance, a.Delivery)
			if err := h.Report(ctx, a, api.Reply{Value: "1"}); err != nil {
				return err
			}
			w.Say("reported", a.Instance)
			if err := oneTurn(ctx, h, "act A —", "act A, done 1"); err != nil {
				return err
			}
		}
	}, nil
}

func oneTurn(ctx context.Context, h *durable.Hub, first, second string) error {
	t, err := h.NextTurn(ctx, api.Function{Name: "O"})
	if err != nil {
		return err
	}
	if t.Number == 1 {
		return h.Finish(ctx, t, reply(first))
	}
	return h.Finish(ctx, t, reply(second))
}

// killed is what was heard of an instance.
type killed struct {
	started, reported bool
	ran               int
}

// TestKill kills a process with 16 clients again and again. After each kill every instance
// whose start was acknowledged is there; what goes on from there has each number once in
// its history, and an activity whose report was acknowledged does not run again.
func TestKill(t *testing.T) {
	t.Parallel()
	var heard map[string]*killed
	storetest.Kills{
		Rounds: 3, Lines: 300, RoundsOfOne: 3,
		Forget: func() { heard = map[string]*killed{} },
		Hear: func(words []string) {
			k := heard[words[1]]
			if k == nil {
				k = &killed{}
				heard[words[1]] = k
			}
			switch words[0] {
			case "started":
				k.started = true
			case "ran":
				k.ran++
			case "reported":
				k.reported = true
			}
		},
		Check: func(db *store.Store) { checkKilled(t, db, heard) },
	}.Run(t)
}

func checkKilled(t *testing.T, db *store.Store, heard map[string]*killed) {
	t.Helper()
	ctx := context.Background()
	e, err := durable.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	there := map[string]*api.Instance{}
	for _, name := range e.Hubs() {
		h := e.Hub(name)
		for token := ""; ; {
			page, next, err := h.Instances(ctx, api.Query{Token: token})
			if err != nil {
				t.Fatal(err)
			}
			for _, inst := range page {
				if inst, err = h.Instance(ctx, inst.ID, api.Read{History: true}); err != nil {
					t.Fatal(err)
				}
				there[inst.ID] = inst
			}
			if token = next; token == "" {
				break
			}
		}
	}
	for id, k := range heard {
		inst := there[id]
		if inst == nil {
			if k.started {
				t.Errorf("instance %s was acknowledged, and is not there", id)
			}
			continue
		}
		numbers := map[int]int{}
		ends := 0
		for _, e := range inst.History {
			if e.Type == api.TaskScheduled {
				numbers[e.ID]++
			}
			if e.Type == api.TaskCompleted {
				ends++
			}
		}
		if numbers[0] > 1 || ends > 1 || inst.Status == api.Completed && (numbers[0] != 1 || ends != 1) {
			t.Errorf("instance %s is %s, and its activity is scheduled %d times, ended %d times", id, inst.Status, numbers[0], ends)
		}
	}
	for _, name := range e.Hubs() {
		finishKilled(t, killedHub(e, name), heard)
	}
}

// finishKilled does what is left in a hub: every instance is completed then.
func finishKilled(t *testing.T, h *durable.Hub, heard map[string]*killed) {
	t.Helper()
	clk := clock.System()
	ctx, cancel := clk.WithCancel(context.Background())
	group := clock.NewGroup(clk, 0)
	group.Go("turns", func() {
		for oneTurn(ctx, h, "act A —", "act A, done 1") == nil {
		}
	})
	group.Go("activities", func() {
		for {
			a, err := h.NextActivity(ctx, "A")
			if err != nil {
				return
			}
			if k := heard[a.Instance]; k != nil && k.reported {
				t.Errorf("the report of %s was acknowledged, and its activity runs again", a.Instance)
			}
			if err := h.Report(ctx, a, api.Reply{Value: "1"}); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		page, _, err := h.Instances(ctx, api.Query{Statuses: []api.Status{api.Pending, api.Running}})
		if err != nil {
			t.Fatal(err)
		}
		for _, inst := range page {
			got, err := h.AwaitEnd(ctx, inst.ID, clk.Now().Add(time.Minute))
			if err != nil || got.Status != api.Completed {
				t.Errorf("%s: %+v, %v", inst.ID, got, err)
			}
		}
		if len(page) == 0 {
			break
		}
	}
	cancel()
	group.Wait()
}

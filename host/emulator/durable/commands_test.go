package durable_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/journal"
)

// states makes instances i1 in each state of spec durable 5.3.
var states = []struct {
	name  string
	reach func(b *bench)
}{
	{"unknown", func(*bench) {}},
	{"Pending", func(b *bench) {
		b.do(func(ctx context.Context) error {
			_, err := b.hub.Start(ctx, api.Start{Name: "Waits", ID: "i1", Due: b.clk.Now().Add(time.Hour)})
			return err
		})
	}},
	{"Running", func(b *bench) { b.start("Waits", "i1"); b.clk.Advance(0) }},
	{"Suspended", func(b *bench) {
		b.start("Waits", "i1")
		b.clk.Advance(0)
		b.do(func(ctx context.Context) error {
			return b.hub.Control(ctx, "i1", api.Control{Command: api.Suspend, Reason: "pause"})
		})
		b.clk.Advance(0)
	}},
	{"Completed", func(b *bench) { b.start("Ends", "i1"); b.clk.Advance(0) }},
	{"Failed", func(b *bench) { b.start("Fails", "i1"); b.clk.Advance(0) }},
	{"Terminated", func(b *bench) {
		b.start("Waits", "i1")
		b.clk.Advance(0)
		b.do(func(ctx context.Context) error {
			return b.hub.Control(ctx, "i1", api.Control{Command: api.Terminate, Reason: "stop"})
		})
	}},
}

// commands are the rows of spec durable 5.3: the refusal in each state, "" for none.
var commands = []struct {
	name string
	call func(ctx context.Context, h api.Hub) error
	want [7]string
}{
	{"start, same id", func(ctx context.Context, h api.Hub) error {
		_, err := h.Start(ctx, api.Start{Name: "Waits", ID: "i1"})
		return err
	}, [7]string{
		"", "InUse An Orchestration instance with the status Pending already exists.", "InUse An Orchestration instance with the status Running already exists.",
		"InUse An Orchestration instance with the status Suspended already exists.", "", "", "",
	}},
	{"status", func(ctx context.Context, h api.Hub) error {
		_, err := h.Instance(ctx, "i1", api.Read{})
		return err
	}, [7]string{"NotFound No instance with ID 'i1' was found.", "", "", "", "", "", ""}},
	{"raise event", func(ctx context.Context, h api.Hub) error { return h.RaiseEvent(ctx, "i1", "x", "1", "http") }, [7]string{
		"NotFound No instance with ID 'i1' was found.", "", "", "", notRunning, notRunning, notRunning,
	}},
	{"terminate", control(api.Terminate), [7]string{"NotFound No instance with ID 'i1' was found.", "", "", "", notRunning, notRunning, notRunning}},
	{"suspend", control(api.Suspend), [7]string{
		"NotFound No instance with ID 'i1' was found.", "", "",
		"WrongState Cannot suspend the orchestration instance i1 because instance is in the Suspended state.", notRunning, notRunning, notRunning,
	}},
	{"resume", control(api.Resume), [7]string{
		"NotFound No instance with ID 'i1' was found.", "WrongState Cannot resume the orchestration instance i1 because instance is in the Pending state.",
		"WrongState Cannot resume the orchestration instance i1 because instance is in the Running state.", "", notRunning, notRunning, notRunning,
	}},
	{"rewind", control(api.Rewind), [7]string{
		`NotFound No orchestration with instance ID "$i1" found.`, notFailed("Pending"), notFailed("Running"), notFailed("Suspended"), notFailed("Completed"), "", notFailed("Terminated"),
	}},
	{"restart, same id", func(ctx context.Context, h api.Hub) error {
		_, err := h.Restart(ctx, "i1", "", "http")
		return err
	}, [7]string{"NotFound InstanceId does not match a valid orchestration instance.", nonTerminal, nonTerminal, nonTerminal, "", "", ""}},
	{"restart, new id", func(ctx context.Context, h api.Hub) error {
		_, err := h.Restart(ctx, "i1", "i2", "http")
		return err
	}, [7]string{"NotFound InstanceId does not match a valid orchestration instance.", "", "", "", "", "", ""}},
	{"purge by id", func(ctx context.Context, h api.Hub) error {
		n, err := h.Purge(ctx, "i1", "http")
		if err == nil && n != 1 {
			err = fmt.Errorf("%d purged", n)
		}
		return err
	}, [7]string{"NotFound No instance with ID 'i1' was found.", unfinished("Pending"), unfinished("Running"), unfinished("Suspended"), "", "", ""}},
	{"purge by filter", func(ctx context.Context, h api.Hub) error {
		n, err := h.PurgeAll(ctx, api.Query{From: time.Unix(0, 0)}, "http")
		if err == nil {
			err = fmt.Errorf("%d purged", n)
		}
		return err
	}, [7]string{"0 purged", "1 purged", "1 purged", "1 purged", "1 purged", "1 purged", "1 purged"}},
}

const (
	notRunning  = "Finished The orchestration instance with the provided instance id is not running."
	nonTerminal = "InUse A non-terminal instance with this instance ID already exists."
)

func notFailed(status string) string {
	return fmt.Sprintf("WrongState This orchestration has status %s, but only orchestrations in the \"Failed\" state can be rewound.", status)
}

func unfinished(status string) string {
	return "WrongState Only orchestrations in a terminal state can be purged, but the orchestration with instance ID i1 has status " + status
}

func control(c api.Command) func(ctx context.Context, h api.Hub) error {
	return func(ctx context.Context, h api.Hub) error {
		return h.Control(ctx, "i1", api.Control{Command: c, Reason: "why", By: "http"})
	}
}

func waitsAndEnds(b *bench) {
	b.orchestrators["Waits"] = plans("ev go —", "ev go —")
	b.orchestrators["Ends"] = plans("done 1")
	b.orchestrators["Fails"] = plans("err boom")
}

func TestCommandsByState(t *testing.T) {
	t.Parallel()
	for _, command := range commands {
		for i, state := range states {
			t.Run(command.name+"/"+state.name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, waitsAndEnds)
				state.reach(b)
				if i > 0 {
					if got := b.instance("i1"); got.Status.String() != state.name {
						t.Fatalf("i1 is %s", got.Status)
					}
				}
				got := ""
				b.clk.Do("test", func() {
					if err := command.call(b.ctx, b.hub); err != nil {
						got = err.Error()
						for _, code := range []api.Code{api.CodeNotFound, api.CodeInUse, api.CodeFinished, api.CodeWrongState} {
							if api.Is(err, code) {
								got = string(code) + " " + got
							}
						}
					}
				})
				if got != command.want[i] {
					t.Errorf("got %q, want %q", got, command.want[i])
				}
			})
		}
	}
}

// T-70, T-71: what comes while an instance is suspended is held, in its order.
func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("all[ev go, tim 1h], act A —", "all[ev go, tim 1h], act A —", "all[ev go, tim 1h], act A —", "all[ev go, tim 1h], act A —", "all[ev go, tim 1h], act A —", "all[ev go, tim 1h], act A, done 1")
		b.activities["A"] = returns("1")
	})
	b.start("O", "i1")
	b.clk.Advance(0)
	b.do(func(ctx context.Context) error {
		return b.hub.Control(ctx, "i1", api.Control{Command: api.Suspend, Reason: "pause"})
	})
	b.clk.Advance(0)
	b.want("i1", api.Suspended, "pause")
	b.raise("i1", "go", "1")
	b.clk.Advance(2 * time.Hour)
	b.want("i1", api.Suspended, "pause")
	if len(b.ran) != 0 {
		t.Error("an activity ran while the instance was suspended")
	}
	b.do(func(ctx context.Context) error { return b.hub.Control(ctx, "i1", api.Control{Command: api.Resume}) })
	b.run()
	b.want("i1", api.Completed, "1")
	if got := b.kinds(journal.EventRaised, func(r *journal.Record) string { return r.Name + " " + r.Status }); fmt.Sprint(got) != "[go held]" {
		t.Errorf("events %v", got)
	}
}

// T-51: the end of an activity that runs while its instance is terminated is ignored.
func TestTerminateWhileAnActivityRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("act A —")
		b.activities["A"] = func(a *api.Activity) api.Reply {
			_ = b.clk.Sleep(b.ctx, time.Hour)
			return api.Reply{Value: "1"}
		}
	})
	b.start("O", "i1")
	b.clk.Advance(time.Minute)
	b.do(func(ctx context.Context) error {
		return b.hub.Control(ctx, "i1", api.Control{Command: api.Terminate, Reason: "enough"})
	})
	b.want("i1", api.Terminated, "enough")
	b.run()
	b.want("i1", api.Terminated, "enough")
	if got := b.kinds(journal.TaskEnded, func(r *journal.Record) string { return r.Name + " " + r.Status }); fmt.Sprint(got) != "[A ignored]" {
		t.Errorf("ends %v", got)
	}
}

// T-52.
func TestTerminatePending(t *testing.T) {
	t.Parallel()
	b := newBench(t, waitsAndEnds)
	states[1].reach(b)
	b.do(func(ctx context.Context) error {
		return b.hub.Control(ctx, "i1", api.Control{Command: api.Terminate, Reason: "no"})
	})
	b.run()
	b.want("i1", api.Terminated, "no")
	if len(b.turns) != 0 {
		t.Errorf("%d turns", len(b.turns))
	}
}

// T-72: only what failed runs again, under its old number.
func TestRewind(t *testing.T) {
	t.Parallel()
	all := "all[act A, act B, act C, act B, act A]"
	broken := true
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = func(turn *api.Turn) api.Reply {
			switch {
			case len(b.ran) < 5:
				return reply(all + " —")
			case broken:
				return reply(all + ", err boom")
			case len(b.ran) < 7:
				return reply(all + " —")
			}
			return reply(all + ", done 1")
		}
		b.activities["A"], b.activities["C"] = returns("1"), returns("1")
		b.activities["B"] = func(a *api.Activity) api.Reply {
			if broken {
				return api.Reply{Failed: true, Message: "no"}
			}
			return api.Reply{Value: "2"}
		}
	})
	b.start("O", "i1")
	b.run()
	b.want("i1", api.Failed, "Orchestrator function 'O' failed: boom")
	broken = false
	b.do(control2(b, api.Rewind))
	b.run()
	b.want("i1", api.Completed, "1")
	if len(b.ran) != 7 || b.ran[5].Name != "B" || b.ran[5].Number != 1 || b.ran[6].Number != 3 {
		t.Errorf("%d activities ran", len(b.ran))
	}
}

// T-73.
func TestRewindOfAParent(t *testing.T) {
	t.Parallel()
	broken := true
	b := newBench(t, func(b *bench) {
		b.orchestrators["P"] = func(turn *api.Turn) api.Reply {
			switch got := b.ran; {
			case len(got) == 0:
				return reply("sub K —")
			case broken:
				return reply("sub K, err child")
			}
			return reply("sub K, done 1")
		}
		b.orchestrators["K"] = func(turn *api.Turn) api.Reply {
			switch {
			case len(b.ran) == 0 || !broken && len(b.ran) == 1:
				return reply("act A —")
			case broken:
				return reply("act A, err boom")
			}
			return reply("act A, done 2")
		}
		b.activities["A"] = func(a *api.Activity) api.Reply {
			if broken {
				return api.Reply{Failed: true, Message: "no"}
			}
			return api.Reply{Value: "2"}
		}
	})
	b.start("P", "i1")
	b.run()
	got := b.want("i1", api.Failed, "Orchestrator function 'P' failed: child")
	child := got.History[2].InstanceID
	if want := got.Execution + ":0"; child != want {
		t.Errorf("the child is %s, want %s", child, want)
	}
	b.want(child, api.Failed, "Orchestrator function 'K' failed: boom")
	broken = false
	b.do(control2(b, api.Rewind))
	b.run()
	b.want(child, api.Completed, "2")
	b.want("i1", api.Completed, "1")
}

func control2(b *bench, c api.Command) func(ctx context.Context) error {
	return func(ctx context.Context) error { return control(c)(ctx, b.hub) }
}

// T-53: a purge by filter takes instances that run, and says so.
func TestPurgeByFilterNamesWhatRan(t *testing.T) {
	t.Parallel()
	b := newBench(t, waitsAndEnds)
	b.start("Waits", "i1")
	b.start("Ends", "i2")
	b.run()
	b.do(func(ctx context.Context) error {
		n, err := b.hub.PurgeAll(ctx, api.Query{Statuses: []api.Status{api.Running}}, "cli")
		if err == nil && n != 1 {
			err = fmt.Errorf("%d purged", n)
		}
		return err
	})
	if got := b.kinds(journal.DurableFinding, func(r *journal.Record) string { return r.MessageID + " " + r.Name }); fmt.Sprint(got) != "[i1 purged_running]" {
		t.Errorf("findings %v", got)
	}
	b.want("i2", api.Completed, "1")
}

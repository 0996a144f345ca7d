package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/journal"
)

// T-39, 5.8: an orchestrator that does not exist fails in its first turn.
func TestUnknownOrchestrator(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { waitsAndEnds(b); b.orchestrators["P"] = plans("sub Ends —", "sub Ends, done 1") })
	b.start("Nope", "i1")
	b.run()
	b.want("i1", api.Failed, "Orchestrator function 'Nope' failed: The function 'Nope' doesn't exist, is disabled, or is not an orchestrator function. Additional info: The following are the known orchestrator functions: 'Ends', 'Fails', 'P', 'Waits'.")
	b.start("P", "i2")
	b.run()
	b.want("i2", api.Completed, "1")
}

// T-95: disabled functions.
func TestDisabledFunctions(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("all[act Off, sub Gone] —", "all[act Off, sub Gone], err x")
		b.functions.Disabled = []api.Function{{Kind: api.Activities, Name: "Off"}, {Kind: api.Orchestrator, Name: "Gone"}}
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Failed, "failed: x")
	var reasons []string
	for _, e := range got.History {
		if e.Type == api.TaskFailed || e.Type == api.SubOrchestrationInstanceFailed {
			reasons = append(reasons, *e.Reason)
		}
	}
	want := "[Activity function 'Off' failed: Activity function 'Off' is disabled. Orchestrator function 'Gone' failed: The function 'Gone' doesn't exist, is disabled, or is not an orchestrator function. Additional info: The following are the known orchestrator functions: 'O'.]"
	if fmt.Sprint(reasons) != want {
		t.Errorf("reasons %v, want %s", reasons, want)
	}
}

// T-29: each attempt of a child without an id has an id of its own.
func TestRetriedChild(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("resub bad(60s,2) —", "resub bad(60s,2) —", "resub bad(60s,2) —", "resub bad(60s,2) —", "resub bad(60s,2), err gone")
		b.orchestrators["bad"] = plans("err boom")
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Failed, "Orchestrator function 'O' failed: gone")
	var ids []string
	for _, e := range got.History {
		switch e.Type {
		case api.SubOrchestrationInstanceCreated:
			ids = append(ids, strings.TrimPrefix(e.InstanceID, got.Execution))
		case api.SubOrchestrationInstanceFailed:
			if *e.Reason != "Orchestrator function 'bad' failed: boom" {
				t.Errorf("reason %q", *e.Reason)
			}
		}
	}
	if fmt.Sprint(ids) != "[:0 :2]" {
		t.Errorf("children %v", ids)
	}
}

// T-31: a year of days, each its own execution.
func TestContinueAsNewEachDay(t *testing.T) {
	t.Parallel()
	day := 0
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = func(turn *api.Turn) api.Reply {
			if turn.Number == 1 {
				return reply(fmt.Sprintf("tim %dd —", day+1))
			}
			if day++; day == 365 {
				return reply(fmt.Sprintf("tim %dd, done %d", day, day))
			}
			return reply(fmt.Sprintf("tim %dd, can %d, done", day, day))
		}
	})
	b.start("O", "i1")
	b.run()
	got := b.want("i1", api.Completed, "365")
	executions := map[string]bool{}
	most := 0
	for _, r := range b.records {
		if r.Kind != journal.OrchestrationTurn {
			continue
		}
		for _, f := range r.Fields {
			switch f.Key {
			case "execution":
				executions[f.Value] = true
			case "events":
				n := 0
				_, _ = fmt.Sscan(f.Value, &n)
				most = max(most, n)
			}
		}
	}
	if len(executions) != 365 || most > 8 || *got.Input != "364" || b.elapsed() != 365*24*time.Hour {
		t.Errorf("%d executions, at most %d events, input %v, %s", len(executions), most, *got.Input, b.elapsed())
	}
}

// T-32: unread events at continue-as-new are dropped, or kept when that is asked for.
func TestEventsOverContinueAsNew(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			turns := 0
			b := newBench(t, func(b *bench) {
				b.functions.KeepEvents = keep
				b.orchestrators["O"] = func(*api.Turn) api.Reply {
					switch turns++; {
					case turns <= 2:
						return reply("tim 1h —")
					case turns == 3:
						return reply("tim 1h, can 1, done")
					case keep:
						return reply("ev go, done 1")
					}
					return reply("ev go —")
				}
			})
			b.start("O", "i1")
			b.clk.Advance(time.Minute)
			b.raise("i1", "go", "1")
			b.run()
			got := b.instance("i1")
			want := map[bool]string{false: "Running events_dropped", true: "Completed events_dropped"}[keep]
			if keep {
				want = "Completed "
			}
			if text := got.Status.String() + " " + findings(got); text != want {
				t.Errorf("%s, want %s", text, want)
			}
		})
	}
}

// T-44: a turn that never ends is asked for again after 2, 4, 8 s, and terminate ends it.
func TestAbortedTurns(t *testing.T) {
	t.Parallel()
	var at []time.Duration
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = func(*api.Turn) api.Reply {
			at = append(at, b.elapsed())
			return api.Reply{Aborted: errors.New("it has timed out")}
		}
	})
	b.start("O", "i1")
	b.clk.Advance(time.Minute)
	if fmt.Sprint(at) != "[0s 2s 6s 14s 30s]" {
		t.Errorf("asked at %v", at)
	}
	got := b.want("i1", api.Pending, "")
	if findings(got) != "turn_keeps_aborting" || len(got.History) != 0 {
		t.Errorf("findings %q, %d events", findings(got), len(got.History))
	}
	b.do(control2(b, api.Terminate))
	b.run()
	b.want("i1", api.Terminated, "why")
}

// DF-2: with durableStuck an instance that can never go on fails.
func TestStuckInstances(t *testing.T) {
	t.Parallel()
	for _, fail := range []bool{false, true} {
		b := newBench(t, func(b *bench) {
			b.functions.FailStuck = fail
			b.orchestrators["O"] = plans("act Nope —")
		})
		b.start("O", "i1")
		b.run()
		status, output := api.Running, ""
		if fail {
			status, output = api.Failed, `O calls "Nope", which does not exist`
		}
		got := b.want("i1", status, output)
		if findings(got) != "unknown_function stuck" && !fail {
			t.Errorf("findings %q", findings(got))
		}
	}
}

// 6.2: at most so many at a time, in the order in which they became ready.
func TestLimits(t *testing.T) {
	t.Parallel()
	var most *int
	b := newBench(t, func(b *bench) {
		b.orchestrators["O"] = plans("all[act A, act B, act A, act B, act A, act B] —")
		most = b.atATime("A", "B")
		b.functions.MaxActivities = 2
	})
	b.start("O", "i1")
	b.run()
	var order []int
	for _, a := range b.ran {
		order = append(order, a.Number)
	}
	if *most != 2 || fmt.Sprint(order) != "[0 1 2 3 4 5]" || b.elapsed() != 3*time.Second {
		t.Errorf("at most %d, in the order %v, in %s", *most, order, b.elapsed())
	}
}

// T-50.
func TestInstanceIDs(t *testing.T) {
	t.Parallel()
	b := newBench(t, waitsAndEnds)
	for id, want := range map[string]string{
		"@x": "Orchestration instance ids must not start with @.", "a/b": "Orchestration instance ids must not contain /, \\, #, ?, or control characters.",
		strings.Repeat("a", 257): "Instance ID lengths must not exceed 256 characters.", "a b ü": "",
	} {
		b.do(func(ctx context.Context) error {
			_, err := b.hub.Start(ctx, api.Start{Name: "Ends", ID: id})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != want || want != "" && !api.Is(err, api.CodeBadID) {
				t.Errorf("%.10q: %v, want %q", id, err, want)
			}
			return nil
		})
	}
}

// 5.7: a turn that fails at a point comes again, or is done.
func TestPointsOfATurn(t *testing.T) {
	t.Parallel()
	for _, point := range []string{durable.BeforeTurn, durable.AfterReply, durable.AfterTurn} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			failed := false
			b := newBench(t, func(b *bench) {
				b.orchestrators["O"] = plans("act A —", "act A, done 1")
				b.activities["A"] = returns("1")
				b.fault = func(p durable.FaultPoint) error {
					if p.Op == point && !failed {
						failed = true
						return errors.New("broken")
					}
					return nil
				}
			})
			b.start("O", "i1")
			b.run()
			got := b.want("i1", api.Completed, "1")
			if !failed || len(b.ran) != 1 || got.Turns != 2 {
				t.Errorf("failed %t, %d activities, %d turns", failed, len(b.ran), got.Turns)
			}
		})
	}
}

// A start may wait; AwaitEnd and AllowPoll let the clock go on.
func TestWaitingForTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.orchestrators["O"] = plans("tim 10m —", "tim 10m, done 1") })
	b.alongside(func(ctx context.Context) error {
		if _, err := b.hub.Start(ctx, api.Start{Name: "O", ID: "i1", Due: b.clk.Now().Add(time.Minute)}); err != nil {
			return err
		}
		if err := b.hub.AllowPoll(ctx, "i1", time.Second); err != nil || b.elapsed() != time.Second {
			t.Errorf("a poll took %s: %v", b.elapsed(), err)
		}
		got, err := b.hub.AwaitEnd(ctx, "i1", b.clk.Now().Add(5*time.Minute))
		if err != nil || got.Status != api.Running || b.elapsed() != 5*time.Minute+time.Second {
			t.Errorf("%v after %s, %v", got, b.elapsed(), err)
		}
		got, err = b.hub.AwaitEnd(ctx, "i1", b.clk.Now().Add(time.Hour))
		if err != nil || got.Status != api.Completed || b.elapsed() != 10*time.Minute {
			t.Errorf("%v after %s, %v", got, b.elapsed(), err)
		}
		if _, err := b.hub.AwaitEnd(ctx, "nope", b.clk.Now().Add(time.Hour)); !api.Is(err, api.CodeNotFound) {
			t.Errorf("unknown: %v", err)
		}
		return nil
	})
}

// T-56.
func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t, waitsAndEnds)
	for i := range 250 {
		b.start("Ends", fmt.Sprintf("i%03d", i))
	}
	b.run()
	b.do(func(ctx context.Context) error {
		token, sizes := "", []int{}
		for {
			page, next, err := b.hub.Instances(ctx, api.Query{Token: token, Statuses: []api.Status{api.Completed}})
			if err != nil {
				return err
			}
			if page[0].ID != fmt.Sprintf("i%03d", 100*len(sizes)) {
				t.Errorf("page %d begins with %s", len(sizes), page[0].ID)
			}
			sizes = append(sizes, len(page))
			if token = next; token == "" {
				break
			}
		}
		if fmt.Sprint(sizes) != "[100 100 50]" {
			t.Errorf("pages of %v", sizes)
		}
		return nil
	})
}

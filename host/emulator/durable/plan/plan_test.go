package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
)

// worked are the worked examples of spec durable 4.12: one row for each turn that they
// tell of.
var worked = []struct {
	id, runtime, history, plan string
	events, outcome            string // outcome: the beginning
	findings                   string
}{
	{"P-1", "", "S@0 X", "act A —", "T0 A", "", ""},
	{"P-2", "", "S@0 X T0 A / S@0 ok0", "act A, act B —", "T1 B", "", ""},
	{"P-3", "", "S@0 X T0 A / S@0 ok0 T1 B / S@0 ok1", "act A, act B, done 5", "", "Completed 5", ""},
	{"P-4", "", "S@0 X", "all[act A, tim 1h, sub K, act B] —", "T0 A, W1→1h, C2 exec:2, T3 B", "", ""},
	{"P-5", "", "S@0 X T0 A W1→1h C2 K T3 B / S@0 ok0 ok3", "all[act A, tim 1h, sub K, act B] —", "", "", ""},
	{"P-6", "", "S@0 X", "all[retry P(60s,3,×2), retry Q(60s,3,×2)] —", "T0 P, T1 Q", "", ""},
	{"P-7", "", "S@0 X T0 P T1 Q / S@0 no0 no1", "all[retry P(60s,3,×2), retry Q(60s,3,×2)] —", "W2→1m, W3→1m", "", ""},
	{"P-8", "", "S@0 X T0 P T1 Q / S@0 no0 no1 W2→60s W3→60s / S@60s f2 f3", "all[retry P(60s,3,×2), retry Q(60s,3,×2)] —", "T4 P, T5 Q", "", ""},
	{"P-9", "", "S@0 X T0 P T1 Q / S@0 no0 no1 W2→60s W3→60s / S@60s f2 f3 T4 P T5 Q / S@60s ok4 no5", "all[retry P(60s,3,×2), retry Q(60s,3,×2)] —", "W6→3m", "", ""},
	{"P-10", "", "S@0 X T0 P T1 Q / S@0 no0 no1 W2→60s W3→60s / S@60s f2 f3 T4 P T5 Q / S@60s ok4 no5 W6→180s / S@180s f6", "all[retry P(60s,3,×2), retry Q(60s,3,×2)] —", "T7 Q", "", ""},
	{"P-10", "", "S@0 X T0 P T1 Q / S@0 no0 no1 W2→60s W3→60s / S@60s f2 f3 T4 P T5 Q / S@60s ok4 no5 W6→180s / S@180s f6 T7 Q / S@180s ok7", "all[retry P(60s,3,×2), retry Q(60s,3,×2)], done", "", "Completed", ""},
	{"P-11", "", "S@0 X T0 X / S@0 no0 W1→60s / S@60s f1 T2 X / S@60s no2", "retry X(60s,2) —", "W3→1m", "", ""},
	{"P-12", "", "S@0 X T0 X / S@0 no0 W1→60s / S@60s f1 T2 X / S@60s no2 W3→60s / S@60s f3", `retry X(60s,2), done "caught"`, "", `Completed "caught"`, ""},
	{"P-13", "node", "S@0 X T0 X / S@0 no0 W1→60s / S@60s f1 T2 X / S@60s no2 W3→120s / S@120s f3 T4 X / S@120s no4", "retry X(60s,5,timeout 90s) —", "", "", "retry_timeout stuck"},
	{"P-14", "node", "S@0 X W0→72h / S@47h ev ok", "any[tim 72h x, ev ok], act B —", "T1 B", "", ""},
	{"P-15", "node", "S@0 X W0→72h / S@47h ev ok T1 B / S@47h ok1", "any[tim 72h x, ev ok], act B, done", "", "Completed", ""},
	{"P-16", "", "S@0 X W0→1h / S@5m ev go", `any[tim 1h, ev go], done "early"`, "", "", "open_tasks"},
	{"P-16", "", "S@0 X W0→1h / S@5m ev go / S@1h f0", `any[tim 1h, ev go], done "early"`, "", `Completed "early"`, ""},
	{"P-17", "", "S@0 X W0→1h / S@5m ev go", "any[tim 1h, ev go], err boom", "", "", "open_tasks"},
	{"P-17", "", "S@0 X W0→1h / S@5m ev go / S@1h f0", "any[tim 1h, ev go], err boom", "", "Failed Orchestrator function 'O' failed: boom", ""},
	{"P-18", "node", "S@0 X", "tim 10d —", "W0→3d", "", ""},
	{"P-18", "node", "S@0 X W0→3d / S@3d f0", "tim 10d —", "W1→6d", "", ""},
	{"P-18", "node", "S@0 X W0→3d / S@3d f0 W1→6d / S@6d f1", "tim 10d —", "W2→9d", "", ""},
	{"P-18", "node", "S@0 X W0→3d / S@3d f0 W1→6d / S@6d f1 W2→9d / S@9d f2", "tim 10d —", "W3→10d", "", ""},
	{"P-19", "python", "S@0 X", "all[tim 3d] —", "W0→3d", "", ""},
	{"P-19", "python", "S@0 X W0→3d / S@3d f0", "all[tim 3d], tim 6d —", "W1→6d", "", ""},
	{"P-19", "python", "S@0 X W0→3d / S@3d f0 W1→6d / S@6d f1", "all[tim 3d], tim 6d, tim 10d —", "W2→10d", "", ""},
	{"P-20", "node", "S@0 X W0→3d / S@3d f0 W1→6d / S@4d ev go", "any[tim 10d x, ev go], act B —", "T1 B", "Failed Non-Deterministic workflow detected: A previous execution of this orchestration scheduled a timer task with sequence number 1 named but the current orchestration replay instead produced a ScheduleTaskOrchestratorAction action", "long_timer_cancel nondeterministic"},
	{"P-21", "python", "S@0 X W0→3d / S@3d f0 W1→6d / S@4d ev go", "any[all[tim 3d], ev go], tim 6d, act B —", "", "", "long_timer_cancel"},
	{"P-21", "python", "S@0 X W0→3d / S@3d f0 W1→6d / S@4d ev go / S@6d f1", "any[all[tim 3d], ev go], tim 6d, act B —", "T2 B", "", ""},
	{"P-22", "node", "S@0 X T0 A T1 B / S@0 ok0 ok1", "any[act A, act B], all[act A, act B, act C] —", "T2 A, T3 B, T4 C", "", "rescheduled"},
	{"P-23", "python", "S@0 X T0 A T1 B / S@0 ok0 ok1", "any[act A, act B], all[act C] —", "T2 C", "", ""},
	{"P-24", "", "S@0 X T0 X W1→1h / S@0 no0", "all[act X, tim 1h], act Undo —", "", "", "all_waits"},
	{"P-24", "", "S@0 X T0 X W1→1h / S@0 no0 / S@1h f1", "all[act X, tim 1h], act Undo —", "T2 Undo", "", ""},
	{"P-25", "", "S@0 X T0 A / S@0 ok0", "groups[act A][act B]", "T1 B", "", ""},
	{"P-26", "", "S@0 X T0 Old", "act New —", "T0 New", "Failed Non-Deterministic workflow detected: A previous execution of this orchestration scheduled an activity task with sequence number 0 named 'Old', but the current orchestration replay instead scheduled an activity task named 'New' with this sequence number.  Was a change", "nondeterministic"},
	{"P-27", "python", "S@0 X W0→1h / S@5m ev go=e1 / S@6m ev go=e2 / S@1h f0", "tim 1h, ev go, ev go, done", "", "Completed", "event_overwritten"},
	{"P-28", "", "S@0 X", "all[act Nope, act B] —", "T0 B", "", "unknown_function"},
	{"P-28", "", "S@0 X", "act Nope —", "", "", "unknown_function stuck"},
	{"P-28", "", "S@0 X", "act Nope, done", "", "Completed", "unknown_function"},
	{"P-29", "", "S@0 X W0→24h / S@5m ev go / S@24h f0", "tim 24h, can 1, done", "", "ContinuedAsNew 1", "events_dropped"},
	{"P-30", "", "S@0 X", "sig @c@k add 5, call @c@k get —", "E0 signal, E1 call", "", ""},
	{"P-31", "", "S@0 X E0 op E1 op / S@0 ev $1", "sig @c@k add 5, call @c@k get, done", "", "Completed", ""},
	{"P-32", "", "S@0 X", "can 1, err late", "", "Failed Orchestrator function 'O' failed: late", ""},
	{"P-32", "node", "S@0 X", `label {"isDone":true,"actions":[[{"actionType":4,"input":1}]],"error":"late","schemaVersion":2}`, "", "Failed Orchestrator function 'O' failed: false\n\n$OutOfProcData$:{", "late_throw"},
	{"P-33", "node", "S@0 X", `label {"isDone":false,"actions":[[]],"schemaVersion":2}`, "", "Failed Orchestrator function 'O' failed: false\n\n$OutOfProcData$:{", "not_an_error"},
	{"P-33", "node", "S@0 X T0 A / S@0 ok0", `label {"isDone":false,"actions":[[]],"schemaVersion":2}`, "", "Failed Non-Deterministic workflow detected: A previous execution of this orchestration scheduled an activity task with sequence ID 0 and name 'A' (version ''), but the current replay execution hasn't (yet?)", "not_an_error nondeterministic"},
	{"P-34", "", "S@0 X T0 X W1→1h / S@0 no0 W2→60s / S@60s f2 T3 X / S@60s no3 W4→60s / S@60s f4", `any[retry X(60s,2), tim 1h x], done "gaveup"`, "", `Completed "gaveup"`, ""},
	{"P-35", "", "S@0 X", "sig @c@k add 1, done", "E0 signal", "Completed", ""},
}

// instance is that of the worked examples.
func instance(runtime string) *plan.Instance {
	var known []durable.Function
	for _, name := range []string{"A", "B", "C", "P", "Q", "X", "Undo", "New", "Old"} {
		known = append(known, durable.Function{Kind: durable.Activities, Name: name})
	}
	known = append(known, durable.Function{Kind: durable.Orchestrator, Name: "K"}, durable.Function{Kind: durable.EntityFunction, Name: "c"})
	return &plan.Instance{ID: "i1", Execution: "exec", Name: "O", Runtime: runtime, Functions: plan.NewFunctions(known, nil)}
}

func guid(n int, now time.Time) string { return plan.RequestID("i1", now, n) }

func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range worked {
		seen[row.id] = true
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			r := notation.Reply(row.plan)
			in, st, events := instance(row.runtime), plan.Read("O", &r), notation.History(row.history, guid)
			got := plan.Plan(in, events, st)
			if text := notation.Events(got); text != row.events {
				t.Errorf("new events %q, want %q", text, row.events)
			}
			if text := notation.Outcome(got.Outcome); !strings.HasPrefix(text, row.outcome) || (text == "") != (row.outcome == "") {
				t.Errorf("outcome %q, want %q", text, row.outcome)
			}
			var names []string
			for _, f := range got.Findings {
				names = append(names, f.Name)
			}
			if text := strings.Join(names, " "); text != row.findings {
				t.Errorf("findings %q, want %q", text, row.findings)
			}
			// In steps, asked after each event, it is the same.
			m := plan.New(in, st)
			for i := range events {
				m.Feed(&events[i])
				m.Result()
			}
			if diff := cmp.Diff(got, m.Result()); diff != "" {
				t.Errorf("in steps (-whole +steps):\n%s", diff)
			}
		})
	}
	if len(seen) != 35 {
		t.Errorf("%d of 35 examples", len(seen))
	}
}

func TestEndsHaveTheNextNumber(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		history, plan string
		number        int
	}{
		{"S@0 X W0→3d / S@3d f0 W1→6d / S@4d ev go", "any[tim 10d x, ev go], act B —", 2}, // P-20
		{"S@0 X T0 Old", "act New —", 1}, // P-26
		{"S@0 X", "sig @c@k add 1, done", 1},
	} {
		r := notation.Reply(row.plan)
		got := plan.Plan(instance("node"), notation.History(row.history, guid), plan.Read("O", &r))
		if got.Outcome == nil || got.Outcome.Number != row.number {
			t.Errorf("%s: outcome %+v, want number %d", row.history, got.Outcome, row.number)
		}
	}
}

// FuzzRead feeds replies of any kind: nothing panics, and asking between the events
// changes nothing.
func FuzzRead(f *testing.F) {
	for _, row := range worked {
		f.Add(notation.Reply(row.plan).Value, false)
	}
	f.Add(`false`+"\n\n$OutOfProcData$:"+`{"isDone":false,"actions":[[]],"error":"x"}`, true)
	f.Add(`{"actions":[[{"actionType":8,"httpRequest":{"uri":"http://x","asynchronousPatternEnabled":true}}]],"schemaVersion":2}`, false)
	events := notation.History("S@0 X T0 A W1→1h / S@0 ok0 ev go / S@1h f1 no2", guid)
	f.Fuzz(func(t *testing.T, value string, failed bool) {
		r := durable.Reply{Value: value, Failed: failed, Message: value}
		st := plan.Read("O", &r)
		m := plan.New(instance("node"), st)
		for i := range events {
			m.Feed(&events[i])
			m.Result()
		}
		if diff := cmp.Diff(plan.Plan(instance("node"), events, st), m.Result()); diff != "" {
			t.Errorf("in steps (-whole +steps):\n%s", diff)
		}
	})
}

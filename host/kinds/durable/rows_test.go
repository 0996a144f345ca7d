package durable_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/hosttest"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

// A row is one orchestration of the apps in testdata: the test rows of spec durable 16 that
// need a worker. Members that begin with py are what the Python package makes of it, where
// that is something else.
type row struct {
	id          string // T-n, and a letter where a row has several
	name, input string
	events      []event
	control     []control
	status      durable.Status
	output      string // JSON text, or the beginning of an error's text
	custom      string
	findings    string
	waits       string // TimerCreated, as times after the start
	activities  int    // scheduled
	turns       int    // 0: not looked at
	ends        time.Duration
	language    string // "" both
	py          *row   // what differs
}

type event struct {
	at         time.Duration
	name, data string
}

type control struct {
	at      time.Duration
	command durable.Command
}

const hour, day = time.Hour, 24 * time.Hour

const prefix = "Orchestrator function '%s' failed: "

func rows() []row {
	return []row{
		{id: "T-2", name: "Chain", status: durable.Completed, output: `["Hello, Tokyo!","Hello, Seattle!","Hello, London!"]`, activities: 3, turns: 4},
		{id: "T-3", name: "FanOut", input: "500", status: durable.Completed, output: "249500", activities: 500, py: &row{input: "60", output: "3540", activities: 60}},
		{id: "T-4", name: "RetryTwice", language: "node", status: durable.Completed, output: `"attempt 3"`, activities: 3, waits: "1h 3h", ends: 3 * hour},
		{id: "T-5", name: "RetryOut", status: durable.Failed, output: fmt.Sprintf(prefix, "RetryOut") + "Activity function 'Fail' failed: ", activities: 3, waits: "1m 2m 2m", ends: 2 * time.Minute},
		{id: "T-6", name: "RetryCaught", status: durable.Completed, output: `"caught Activity function 'Fail' failed: no stock"`, activities: 3,
			py: &row{output: `"caught Activity function 'Fail' failed: Exception: no stock"`}},
		{id: "T-7", name: "RetryMax", language: "node", status: durable.Completed, output: `"gave up"`, activities: 3, waits: "1m 2m30s 2m30s"},
		{id: "T-8", name: "RetryTimeout", language: "node", status: durable.Running, findings: "retry_timeout stuck", activities: 3},
		{id: "T-9", name: "RetryPair", language: "python", status: durable.Completed, output: `"gave up"`, activities: 2, waits: "1m 1m"},
		{id: "T-10", name: "Timer", input: "864000", status: durable.Completed, output: `"2030-01-11T00:00:00.000Z"`, waits: "3d 6d 9d 10d", ends: 10 * day,
			py: &row{waits: "3d 6d 10d", output: `"2030-01-11T00:00:00+00:00"`}}, // T-11
		{id: "T-12a", name: "Timer", input: "518400", status: durable.Completed, output: `"2030-01-07T00:00:00.000Z"`, waits: "6d", py: &row{output: `"2030-01-07T00:00:00+00:00"`}},
		{id: "T-12b", name: "Timer", input: "518401", status: durable.Completed, output: `"2030-01-07T00:00:01.000Z"`, waits: "3d 6d 6d1s", py: &row{waits: "3d 6d1s", output: `"2030-01-07T00:00:01+00:00"`}},
		{id: "T-13", name: "Timer", input: "-60", status: durable.Completed, output: `"2030-01-01T00:00:00.000Z"`, waits: "-1m", py: &row{output: `"2030-01-01T00:00:00+00:00"`}},
		{id: "T-14", name: "Race", input: `{"cancel":true}`, events: []event{{47 * hour, "ok", `"yes"`}}, status: durable.Completed, output: `"yes"`, ends: 47 * hour},
		{id: "T-15", name: "Race", input: `{"cancel":false}`, events: []event{{47 * hour, "ok", `"yes"`}}, status: durable.Completed, output: `"yes"`, findings: "open_tasks", ends: 72 * hour},
		{id: "T-16", name: "Race", input: `{"error":"no"}`, events: []event{{47 * hour, "ok", `"yes"`}}, status: durable.Failed, output: fmt.Sprintf(prefix, "Race"), findings: "open_tasks", ends: 72 * hour},
		{id: "T-17", name: "Race", input: `{"cancel":true}`, status: durable.Completed, output: `"escalated"`, ends: 72 * hour},
		{id: "T-18", name: "Race", input: `{"cancel":true,"days":10}`, events: []event{{4 * day, "ok", `"yes"`}}, status: durable.Failed, findings: "long_timer_cancel nondeterministic",
			output: "Non-Deterministic workflow detected: A previous execution of this orchestration scheduled ", ends: 4 * day,
			py: &row{status: durable.Completed, output: `"yes"`, findings: "host_waits long_timer_cancel open_tasks", ends: 10 * day}}, // T-19
		{id: "T-20", name: "Twice", status: durable.Completed, output: `["Hello, a!","Hello, b!","Hello, a!"]`, findings: "rescheduled", activities: 5,
			py: &row{output: `["Hello, a!","Hello, b!","Hello, c!"]`, activities: 3, findings: "-"}}, // T-21
		{id: "T-22", name: "AllFails", status: durable.Completed, output: `"Hello, Undo!"`, findings: "all_waits", ends: hour},
		{id: "T-23", name: "LateEvent", events: []event{{time.Minute, "go", `"e1"`}}, status: durable.Completed, output: `"e1"`, ends: hour},
		{id: "T-24", name: "TwoEvents", events: []event{{time.Minute, "go", `"e1"`}, {2 * time.Minute, "go", `"e2"`}}, status: durable.Completed, output: `["e1","e2"]`,
			py: &row{output: `["e2","e2"]`, findings: "event_overwritten"}},
		{id: "T-25", name: "WaitsFor", events: []event{{time.Minute, "GO", `"e1"`}}, status: durable.Running, findings: "stuck"},
		{id: "T-28", name: "Parent", status: durable.Completed, output: `["Hello, Tokyo!","Hello, Seattle!","Hello, London!"]`},
		{id: "T-29", name: "BadParent", status: durable.Failed, output: fmt.Sprintf(prefix, "BadParent") + "Orchestrator function 'Throws' failed: "},
		{id: "T-30", name: "OwnId", status: durable.Running, findings: "refused_action stuck"},
		{id: "T-31", name: "Year", input: "0", status: durable.Completed, output: "365", ends: 365 * day, py: &row{input: "330", ends: 35 * day}},
		{id: "T-32", name: "Drops", input: "0", events: []event{{time.Minute, "x", "1"}}, status: durable.Completed, output: `"second"`, findings: "events_dropped"},
		{id: "T-33", name: "LateThrow", language: "node", status: durable.Failed, output: fmt.Sprintf(prefix, "LateThrow"), findings: "late_throw"},
		{id: "T-34a", name: "Status", input: "10", status: durable.Completed, output: `"set"`, custom: `"aaaaaaaaaa"`},
		{id: "T-34b", name: "Status", input: "9000", status: durable.Failed, output: fmt.Sprintf(prefix, "Status") + "The UTF-16 size of the JSON-serialized payload must not exceed 16 KB. The current payload size is 17 KB."},
		{id: "T-35a", name: "NoError", input: "0", language: "node", status: durable.Failed, output: fmt.Sprintf(prefix, "NoError"), findings: "not_an_error"},
		{id: "T-35b", name: "NoError", input: "1", language: "node", status: durable.Failed, output: "Non-Deterministic workflow detected: ", findings: "nondeterministic not_an_error"},
		{id: "T-36", name: "Plain", language: "python", status: durable.Completed, output: "5", turns: 1},
		{id: "T-38", name: "Nobody", status: durable.Running, findings: "stuck unknown_function"},
		{id: "T-39", name: "Missing", status: durable.Failed, output: fmt.Sprintf(prefix, "Missing") + "The function 'Missing' doesn't exist, is disabled, or is not an orchestrator function. Additional info: "},
		{id: "T-51", name: "WaitsFor", control: []control{{hour, durable.Terminate}}, status: durable.Terminated, output: "enough", ends: hour},
		{id: "T-61", name: "Sum", input: "[1,2]", language: "python", status: durable.Failed, output: fmt.Sprintf(prefix, "Sum")},
		{id: "T-95", name: "Off", status: durable.Completed, output: `"Activity function 'Disabled' failed: Activity function 'Disabled' is disabled."`},
		{id: "3.8", name: "Echo", status: durable.Completed, output: `[1,1.5,"x","1",{"i":0},[1,2],false,"",null]`},
	}
}

// An orchestrator of the real packages, behind this host's workers (spec durable 16).
func TestPackages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"node", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			h := start(t, language, nil)
			var chosen []row
			for _, r := range rows() {
				if r.language != "" && r.language != language {
					continue
				}
				if language == "python" {
					r = r.inPython()
				}
				chosen = append(chosen, r)
			}
			drive(h, chosen)
			for _, r := range chosen {
				r.check(t, h)
			}
		})
	}
}

// inPython is the row with what differs in Python.
func (r row) inPython() row {
	p := r.py
	if p == nil {
		p = &row{}
	}
	r.status, r.ends = cmp.Or(p.status, r.status), cmp.Or(p.ends, r.ends)
	r.output, r.waits, r.activities = cmp.Or(p.output, r.output), cmp.Or(p.waits, r.waits), cmp.Or(p.activities, r.activities)
	r.input = cmp.Or(p.input, r.input)
	if _, err := strconv.Atoi(r.input); err == nil {
		r.input = strconv.Quote(r.input) // as the package's client sends it
	}
	r.findings = strings.TrimPrefix(cmp.Or(p.findings, r.findings), "-")
	return r
}

// start runs an app of testdata with the packages of its language.
func start(t *testing.T, language string, opts *hosttest.Options) *hosttest.Host {
	t.Helper()
	return startFor(t, t, language, opts)
}

// startFor is start for another one who hears of failures.
func startFor(t *testing.T, tb hosttest.TB, language string, opts *hosttest.Options) *hosttest.Host {
	t.Helper()
	if opts == nil {
		opts = &hosttest.Options{}
	}
	packages := map[string]string{"node": "node_modules", "python": "durable"}[language]
	from, err := filepath.Abs(filepath.Join(interop, packages))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"node": "durable-functions", "python": "azure/durable_functions"}[language]
	if _, err := os.Stat(filepath.Join(from, want)); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", language))); err != nil {
		t.Fatal(err)
	}
	link := map[string]string{"node": "node_modules", "python": ".python_packages/lib/site-packages"}[language]
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, filepath.Join(dir, link)); err != nil {
		t.Fatal(err)
	}
	opts.Dir = dir
	return hosttest.New(tb, opts)
}

func hub(h *hosttest.Host) durable.Hub { return h.Services().Durable().Hub("Orders") }

// drive starts the orchestrations of the rows, and lets a year and more go by.
func drive(h *hosttest.Host, rows []row) {
	type step struct {
		at time.Duration
		do func(ctx context.Context)
	}
	ctx := context.Background()
	var steps []step
	h.Clock().Do("start", func() {
		for _, r := range rows {
			s := durable.Start{Name: r.name, ID: r.id, By: "client"}
			if r.input != "" {
				s.Input = &r.input
			}
			_, _ = hub(h).Start(ctx, s)
			for _, e := range r.events {
				steps = append(steps, step{e.at, func(ctx context.Context) { _ = hub(h).RaiseEvent(ctx, r.id, e.name, e.data, "client") }})
			}
			for _, c := range r.control {
				steps = append(steps, step{c.at, func(ctx context.Context) {
					_ = hub(h).Control(ctx, r.id, durable.Control{Command: c.command, Reason: "enough", By: "client"})
				}})
			}
		}
	})
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	now := time.Duration(0)
	for _, s := range steps {
		h.Advance(s.at - now)
		now = s.at
		h.Clock().Do("step", func() { s.do(ctx) })
	}
	h.Advance(370*day - now)
}

func (r row) check(t *testing.T, h *hosttest.Host) {
	t.Helper()
	var i *durable.Instance
	var err error
	h.Clock().Do("look", func() { i, err = hub(h).Instance(context.Background(), r.id, durable.Read{History: true}) })
	if err != nil {
		t.Errorf("%s %s: %v", r.id, r.name, err)
		return
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	output := text(i.Output)
	matches := output == r.output || i.Status == durable.Failed && strings.HasPrefix(output, r.output)
	var findings []string
	for _, f := range i.Findings {
		findings = append(findings, f.Name)
	}
	slices.Sort(findings)
	activities, waits := 0, []string{}
	for _, e := range i.History {
		switch e.Type {
		case durable.TaskScheduled:
			activities++
		case durable.TimerCreated:
			waits = append(waits, inDays(e.FireAt.Sub(i.Created)))
		}
	}
	if i.Status != r.status || !matches || strings.Join(findings, " ") != r.findings ||
		r.custom != "" && text(i.CustomStatus) != r.custom || r.activities != 0 && activities != r.activities ||
		r.waits != "" && strings.Join(waits, " ") != r.waits || r.turns != 0 && i.Turns != r.turns ||
		r.ends != 0 && i.Updated.Sub(i.Created) != r.ends {
		t.Errorf("%s %s: %s %s, custom status %s, findings %q, %d activities, waits %q, %d turns, %v\nwant %s %s, %s, %q, %d, %q, %d, %v", r.id, r.name,
			i.Status, output, text(i.CustomStatus), findings, activities, waits, i.Turns, i.Updated.Sub(i.Created),
			r.status, r.output, r.custom, r.findings, r.activities, r.waits, r.turns, r.ends)
	}
}

// inDays is a duration in words, "6d1s".
func inDays(d time.Duration) string {
	if d < day {
		return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
	}
	text := fmt.Sprintf("%dd", d/day)
	if rest := d % day; rest != 0 {
		text += inDays(rest)
	}
	return text
}

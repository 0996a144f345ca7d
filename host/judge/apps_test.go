//clock:outside the hosts of the tests are of the real world

package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// good is a function that no row is about.
const good = `{"bindings":[{"type":"httpTrigger","direction":"in","name":"req","authLevel":"anonymous"},{"type":"http","direction":"out","name":"res"}]}`

// A host.json and what becomes of the host and of a good function.
func TestHostFiles(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/hostjson.tsv", 1, 2)
	alone := func(t *testing.T, start starter, text string) (facts []string) {
		a := lay(t, []txtar.File{{Name: "host.json", Data: []byte(text)}, {Name: "Good/function.json", Data: []byte(good)}}, "own")
		s := start(t, a.dir, "custom", a.env)
		function := s.function("Good") // finds out whether it has ended
		return []string{s.state, function}
	}
	ours := make([][]string, len(tab.rows))
	for _, group := range tab.groups(func(i int) []string { return tab.rows[i].expected() }) {
		tab.merged(t, group, ours, func(t *testing.T, text string) []string { return alone(t, openOurs, text) })
	}
	tab.judge(t, judgeVariable, ours, func(t *testing.T) [][]string {
		facts := make([][]string, len(tab.rows))
		for _, group := range tab.groups(func(i int) []string {
			if want := tab.rows[i].want; len(want) > 0 {
				return want
			}
			return ours[i]
		}) {
			tab.merged(t, group, facts, func(t *testing.T, text string) []string { return alone(t, openTheirs, text) })
		}
		return facts
	})
}

// A function.json beside a good function. Where the platform stops its whole host,
// Redeliver may leave the one function out, but says what the platform does.
func TestFunctionFiles(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/functionjson.tsv", 1, 2)
	all := func(t *testing.T, start starter) [][]string {
		facts := make([][]string, len(tab.rows))
		var good []int
		for i, r := range tab.rows {
			if len(r.want) > 0 && r.want[0] != "Running" { // one such row stops the host of all
				tab.together(t, start, []int{i}, facts)
				continue
			}
			good = append(good, i)
		}
		tab.together(t, start, good, facts)
		return facts
	}
	ours := all(t, openOurs)
	tab.judge(t, judgeVariable, ours, func(t *testing.T) [][]string { return all(t, openTheirs) })
	var functions []txtar.File
	says := map[string]string{}
	for i, r := range tab.rows {
		name := fmt.Sprintf("Row%d", i+2)
		switch {
		case len(r.want) > 0 && r.want[0] != "Running" && ours[i][0] == "Running":
			says[name] = app.StopsTheApp
		case said[r.why] != "":
			says[name] = said[r.why]
		default:
			continue
		}
		functions = append(functions, txtar.File{Name: name + "/function.json", Data: []byte(r.in[0])})
	}
	saying(t, functions, says)
}

// failsDeliveries is the reason of rows about an output that the platform finds out about
// when the handler has run.
const failsDeliveries = "the function is left out, and it is said that each delivery fails there"

// said is what the faults say where a row's reason is that they do.
var said = map[string]string{
	failsDeliveries: app.FailsDeliveries,
	"the function is left out, and it is said that the process ends at the first such wait there": document.EndsTheProcess,
	"the function is left out, and it is said that the timer runs without a pause there":          "the platform runs such a timer without a pause",
	"the function is left out, and it is said that its requests are answered 500 there":           "the platform answers 500",
	"a policy names its strategy, and it is said which one is taken there":                        "the platform silently takes exponentialBackoff",
} // read only

// saying checks what the faults of functions say that the platform does.
func saying(t *testing.T, functions []txtar.File, says map[string]string) {
	t.Helper()
	said := told(t, functions)
	for _, f := range functions {
		name, _, _ := strings.Cut(f.Name, "/")
		if !strings.Contains(said[name], says[name]) {
			t.Errorf("%s: the faults do not say %q: %s", f.Data, says[name], said[name])
		}
	}
}

// told are the faults of functions.
func told(t *testing.T, functions []txtar.File) map[string]string {
	t.Helper()
	laid := lay(t, append(functions, txtar.File{Name: "host.json", Data: []byte(`{"version":"2.0"}`)}), "own")
	env := map[string]string{"AzureWebJobsStorage": development, "FUNCTIONS_WORKER_RUNTIME": "custom"}
	for _, line := range laid.env {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	a, err := app.Load(laid.dir, &app.Options{Env: env, Kinds: served.Facts()})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range a.Functions {
		out[f.Name] = fmt.Sprint(f.Faults)
	}
	return out
}

// A starter runs the app of a folder until the test ends.
type starter func(t *testing.T, dir, runtime string, env []string) *subject

// together starts one host for the functions of rows. Where it does not run, halves of
// them are tried, down to the one that stops it.
func (tab *golden) together(t *testing.T, start starter, rows []int, facts [][]string) {
	t.Helper()
	halve := false
	t.Run(fmt.Sprintf("rows %d to %d", rows[0]+2, rows[len(rows)-1]+2), func(t *testing.T) {
		files := []txtar.File{{Name: "host.json", Data: []byte(`{"version":"2.0"}`)}, {Name: "Good/function.json", Data: []byte(good)}}
		for _, i := range rows {
			files = append(files, txtar.File{Name: fmt.Sprintf("Row%d/function.json", i+2), Data: []byte(tab.rows[i].in[0])})
		}
		a := lay(t, files, "own")
		s := start(t, a.dir, "custom", a.env)
		fine := s.function("Good")
		if halve = fine != "runs" && len(rows) > 1; halve {
			t.Logf("the host's state is %s, the good function %q: halves are tried", s.state, fine)
			return
		}
		for _, i := range rows {
			function := s.function(fmt.Sprintf("Row%d", i+2))
			facts[i] = []string{s.state, function}
		}
	})
	if halve {
		middle := len(rows) / 2
		tab.together(t, start, rows[:middle], facts)
		tab.together(t, start, rows[middle:], facts)
	}
}

// function is the state of a function.
func (s *subject) function(name string) string {
	if s.state != "Running" {
		return ""
	}
	text := s.get("/admin/functions/" + name + "/status")
	if text == "" && s.get("/admin/host/status") == "" { // it has ended meanwhile
		s.state = "Ended"
		return ""
	}
	var status struct{ Errors []string }
	switch err := json.Unmarshal([]byte(text), &status); {
	case err != nil:
		return "not there"
	case len(status.Errors) > 0:
		return "in error"
	}
	return "runs"
}

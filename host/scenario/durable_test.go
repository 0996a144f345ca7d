package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/scenario"
)

// durableApp is a copy of the sample with orchestrators in JavaScript, with its packages.
func durableApp(t *testing.T) (dir string) {
	t.Helper()
	packages, err := filepath.Abs("../../.interop/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(packages, "durable-functions")); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../functions/samples/durable-js")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func runAll(t *testing.T, file string) (results []*scenario.Result) {
	t.Helper()
	list, faults := scenario.Load(file)
	for _, f := range faults {
		t.Error(f)
	}
	var jobs []scenario.Job
	for _, s := range list {
		jobs = append(jobs, scenario.Job{Scenario: s})
	}
	scenario.RunAll(context.Background(), jobs, 1, func(r *scenario.Result) { results = append(results, r) })
	return results
}

// The scenarios of the sample: orchestrators in JavaScript, their activities scripted.
func TestDurableSample(t *testing.T) {
	t.Parallel()
	dir := durableApp(t)
	files, err := scenario.Find(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	begin, n, virtual := time.Now(), 0, time.Duration(0)
	for _, file := range files {
		for _, r := range runAll(t, file) {
			n++
			virtual += r.Virtual
			for _, f := range r.Failures {
				t.Error(f.String())
			}
			t.Logf("%8v %s", r.Real.Round(time.Millisecond), r.Scenario.Name)
		}
	}
	t.Logf("%d scenarios, %v of virtual time in %v", n, virtual, time.Since(begin))
}

// What does not hold is said, and no name passes that is mistyped.
func TestDurableExpectationsFail(t *testing.T) {
	t.Parallel()
	const pay = "when: [{startOrchestration: {name: Pay, id: p1, input: 7}}]\nthen: {orchestrations: {p1: "
	rows := []struct{ name, text, want string }{
		{"status", pay + "{status: Failed}}}", `then.orchestrations.p1.status: orchestration "p1" has another status`},
		{"output", pay + "{output: '8'}}}", `orchestration "p1" has another output`},
		{"output null", pay + "{output: null}}}", `orchestration "p1" has another output`},
		{"error of a success", pay + "{error: ''}}}", `orchestration "p1" has another error`},
		{"turns", pay + "{turns: 3}}}", `orchestration "p1" has another turns`},
		{"no activities", pay + "{activities: {}}}}", `orchestration "p1" has called other activities`},
		{"activity mistyped", pay + "{activities: {Charg: 1}}}}", `the app has no activity "Charg"; did you mean "Charge"?`},
		{"activity mistyped, none", pay + "{activities: {Charge: 1, Shp: 0}}}}", `the app has no activity "Shp"; did you mean "Ship"?`},
		{"waits", pay + "{waits: [1h]}}}", `orchestration "p1" has another waits`},
		{"elapsed", pay + "{elapsed: 1ms..1h}}}", `orchestration "p1" has another elapsed`},
		{"findings", pay + "{findings: [open_tasks]}}}", `orchestration "p1" has another findings`},
		{"history", pay + "{history: [ExecutionStarted]}}}", `orchestration "p1" has another history`},
		{"member mistyped", pay + "{stauts: Failed}}}", `then.orchestrations.p1.stauts: found "stauts": unknown name; allowed: activities, `},
		{"nothing", pay + "{}}}", `then.orchestrations.p1: found {}: out of range`},
		{"never was", "when: [{startOrchestration: {name: Pay, id: order-7}}]\nthen: {orchestrations: {order-1: {status: Completed}}}", `there is no orchestration "order-1"; did you mean "order-7"?`},
		{"null that never was", "when: [{startOrchestration: {name: Pay, id: order-7}}]\nthen: {orchestrations: {order-1: null}}", `there is no orchestration "order-1"; did you mean "order-7"?`},
		{"null that is", "when: [{startOrchestration: {name: Pay, id: p1}}]\nthen: {orchestrations: {p1: null}}", `there is an orchestration "p1"`},
		{"unknown orchestrator", "when: [{startOrchestration: {name: Approva}}]\nthen: {nothingElse: true}", `when[0].startOrchestration: there is no orchestrator "Approva"; did you mean "Approval"?`},
		{"awaited that never was", "when: [{startOrchestration: {name: Pay, id: p1}}, {await: {orchestration: p2}}]\nthen: {nothingElse: true}", `when[1].await.orchestration: there is no orchestration "p2"`},
		{"awaited status", "when: [{startOrchestration: {name: Pay, id: p1}}, {await: {orchestration: p1, status: Failed}}]\nthen: {nothingElse: true}", `when[1].await.status: orchestration "p1" has ended otherwise`},
		{"awaited without end", "when: [{startOrchestration: {name: Basket, id: b1}}, {await: {orchestration: b1}}]\nthen: {nothingElse: true}", `orchestration "b1" has not ended
  want  an end
  got   Running, waits for event Add`},
		{"status of a record", "when: [{await: {kind: settled, status: Failed}}]\nthen: {nothingElse: true}", `the end of an orchestration has a status`},
		{"two awaited", "when: [{await: {orchestration: a, kind: settled}}]\nthen: {nothingElse: true}", `the step awaits an orchestration and a record`},
		{"event mistyped", "when: [{startOrchestration: {name: Basket, id: b1}}, {raiseEvent: {id: b1, name: Ad, data: x}}]\nthen: {orchestrations: {b1: {status: Running}}}", `when[1].raiseEvent: orchestration "b1" has never waited for event "Ad": it is still unread`},
		{"event to nobody", "when: [{raiseEvent: {id: b1, name: Ad}}]\nthen: {nothingElse: true}", `when[0].raiseEvent: `},
		{"unfinished", "when: [{startOrchestration: {name: Basket, id: b1}}]\nthen: {nothingElse: true}", `orchestration "b1" has not ended`},
		{"purge of nobody", "when: [{orchestration: {command: purge, id: b1}}]\nthen: {nothingElse: true}", `when[0].orchestration: No instance with ID 'b1' was found.`},
		{"command mistyped", "when: [{orchestration: {command: suspnd, id: b1}}]\nthen: {nothingElse: true}", `found "suspnd"`},
		{"member of another command", "when: [{orchestration: {command: suspend, id: b1, newId: x}}]\nthen: {nothingElse: true}", `suspend has no newId`},
		{"entity", "when: [{signal: {entity: '@stock@k', op: add, input: 2}}]\nthen: {entities: {'@stock@k': 3}}", `entity "@stock@k" has another state`},
		{"entity that is not", "when: [{signal: {entity: '@stock@k', op: add, input: 2}}]\nthen: {entities: {'@stock@j': 2}}", `there is no entity "@stock@j"`},
		{"entity mistyped", "when: [{signal: {entity: '@stock@k', op: add, input: 2}}]\nthen: {entities: {'@stok@k': null}}", `the app has no entity function "stok"; did you mean "stock"?`},
		{"script mistyped", "functions: {Charg: {handler: fail}}\nwhen: [{startOrchestration: {name: Pay}}]\nthen: {nothingElse: true}", `functions.Charg: the app has no activity "Charg"; did you mean "Charge"?`},
		{"script of an orchestrator", "functions: {Pay: {handler: fail}}\nwhen: [{startOrchestration: {name: Pay}}]\nthen: {nothingElse: true}", `functions.Pay.handler: the function is declared in code`},
		{"failure that returns", "functions: {Charge: {handler: {do: fail, returns: 1}}}\nthen: {nothingElse: true}", `an attempt that ends as fail returns nothing`},
	}
	dir := durableApp(t)
	said := make([]string, len(rows))
	row := map[*scenario.Scenario]int{}
	var jobs []scenario.Job
	for i, r := range rows {
		file := filepath.Join(dir, "tests", "all.scenario.yaml") // one file, one process
		list, faults := scenario.Parse(file, []byte("app: ..\n"+r.text+"\n"))
		for _, f := range faults {
			said[i] += f.Error() + "\n"
		}
		for _, s := range list {
			row[s] = i
			jobs = append(jobs, scenario.Job{Scenario: s})
		}
	}
	scenario.RunAll(context.Background(), jobs, 1, func(r *scenario.Result) {
		for _, f := range r.Failures {
			said[row[r.Scenario]] += f.String() + "\n"
		}
	})
	for i, r := range rows {
		if !strings.Contains(said[i], r.want) {
			t.Errorf("%s: want %s, got\n%s", r.name, r.want, said[i])
		}
	}
}

package scenario_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// An app in another language writes down which process has run each of its calls, and how
// many it had run before: by order, since scenarios run one after the other.
var countingApps = map[string]map[string]string{
	"node": {
		"Ship/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
		"Ship/index.js": `
			const fs = require('fs'), path = require('path');
			let calls = 0;
			module.exports = async (context, item) => {
				fs.appendFileSync(path.join(__dirname, '..', 'calls.txt'), process.pid + ' ' + ++calls + ' ' + (process.env.DEPOT || '') + '\n');
				if (item === 'exit') process.exit(3);
				if (item === 'fail') throw new Error('no carrier');
			};`,
	},
	"python3": {
		"Ship/function.json": `{"scriptFile": "__init__.py", "bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
		"Ship/__init__.py": `
import os
calls = 0
def main(item):
    global calls
    calls += 1
    with open(os.path.join(os.path.dirname(__file__), '..', 'calls.txt'), 'a') as f:
        f.write('%d %d %s\n' % (os.getpid(), calls, os.environ.get('DEPOT', '')))
    body = item.get_body().decode()
    if body == 'exit':
        os._exit(3)
    if body == 'fail':
        raise Exception('no carrier')
`,
	},
}

// One process of a worker serves the scenarios of an app one after the other, whatever
// policy they run it with. Those that could not bear what others have left, or that run in
// another environment, have their own, and none is left in the end.
func TestOneWorkerForManyScenarios(t *testing.T) {
	t.Parallel()
	for program, files := range countingApps {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("there is no %s in PATH", program)
			}
			const once = "---\napp: app\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: 1}}}\n"
			steps := []struct {
				text string
				pid  int // of the process, in the order of the first calls
				n    int // calls that it has run before, in its first one
				runs int
			}{
				{once, 0, 0, 1},
				{strings.Replace(once, "when", "host: {retry: {strategy: fixedDelay, maxRetryCount: 2, delayInterval: \"00:00:01\"}}\nwhen", 1), 0, 1, 1},
				{"---\napp: app\nfunctions: {Ship: {retry: {strategy: fixedDelay, maxRetryCount: 2, delayInterval: \"00:00:01\"}}}\nwhen: [{send: {queue: parcels, body: fail}}]\nthen: {functions: {Ship: {deliveries: [3, 3, 3, 3, 3], ends: poisoned}}}\n", 0, 2, 15},
				{strings.Replace(once, "when", "settings: {DEPOT: Kiel}\nwhen", 1), 1, 0, 1},
				{once, 0, 17, 1},
				{"---\napp: app\nhost: {extensions: {queues: {maxDequeueCount: 1}}}\nwhen: [{send: {queue: parcels, body: exit}}]\nthen: {functions: {Ship: {ends: poisoned}}}\n", 0, 18, 1},
				{once, 2, 0, 1},
				{once, 2, 1, 1},
				{strings.Replace(once, "when", "ownWorker: true\nwhen", 1), 3, 0, 1},
				{strings.Replace(once, "x}}]", "x}}, {restart: true}]", 1), 4, 0, 1},
			}
			dir := t.TempDir()
			var text strings.Builder
			for i := range steps {
				text.WriteString(steps[i].text)
			}
			app := map[string]string{"app/host.json": `{"version": "2.0"}`, "a.scenario.yaml": text.String()}
			for name, content := range files {
				app["app/"+name] = content
			}
			for name, content := range app {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			list, faults := scenario.Load(filepath.Join(dir, "a.scenario.yaml"))
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			var jobs []scenario.Job
			for _, s := range list {
				jobs = append(jobs, scenario.Job{Scenario: s})
			}
			scenario.RunAll(context.Background(), jobs, 1, func(r *scenario.Result) {
				for _, f := range r.Failures {
					t.Error(f.String())
				}
			})
			calls, err := os.ReadFile(filepath.Join(dir, "app", "calls.txt"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(calls)), "\n")
			pids := map[string]int{}
			for _, step := range steps {
				for i := range step.runs {
					if len(lines) == 0 {
						t.Fatalf("too few calls:\n%s", calls)
					}
					pid, rest, _ := strings.Cut(lines[0], " ")
					lines = lines[1:]
					if _, known := pids[pid]; !known {
						pids[pid] = len(pids)
					}
					if want := fmt.Sprint(step.n + i + 1); pids[pid] != step.pid || strings.Fields(rest)[0] != want {
						t.Errorf("a call ran as number %s of process %d, want number %s of process %d:\n%s", strings.Fields(rest)[0], pids[pid], want, step.pid, step.text)
					}
				}
			}
			for pid := range pids {
				if _, err := os.Stat("/proc/" + pid); err == nil {
					t.Errorf("process %s is left", pid)
				}
			}
		})
	}
}

// A process that ends in a scenario although another one has made it so tells of that one;
// and how many run at the same time changes nothing, whatever the app keeps.
func TestWorkerOfEarlierScenarios(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node in PATH")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"app/host.json":          `{"version": "2.0"}`,
		"app/Ship/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
		"app/Ship/index.js":      "let laid = false;\nmodule.exports = async (context, item) => { if (laid) process.exit(3); laid = item === 'bomb'; };\n",
		"a.scenario.yaml": `name: the one that lays it
app: app
when: [{send: {queue: parcels, body: bomb}}]
then: {functions: {Ship: {attempts: 1}}}
---
name: the one that meets it
app: app
when: [{send: {queue: parcels, body: x}}]
then: {functions: {Ship: {attempts: 1}}}
---
name: the one with a process of its own
app: app
ownWorker: true
when: [{send: {queue: parcels, body: x}}]
then: {functions: {Ship: {attempts: 1}}}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, faults := scenario.Load(filepath.Join(dir, "a.scenario.yaml"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var jobs []scenario.Job
	for range 2 {
		for _, s := range list {
			jobs = append(jobs, scenario.Job{Scenario: s})
		}
	}
	var outcomes []string
	for _, parallel := range []int{1, 2, 6} {
		var b strings.Builder
		scenario.RunAll(context.Background(), jobs, parallel, func(r *scenario.Result) {
			for _, f := range r.Failures {
				f.Timeline = nil
				fmt.Fprintf(&b, "%s: %s\n", r.Scenario.Name, f.Message)
			}
		})
		outcomes = append(outcomes, b.String())
	}
	const want = "the one that meets it: its worker process has ended (exit status 3), and had run \"the one that lays it\" before"
	if n := strings.Count(outcomes[0], want); n != 2 {
		t.Errorf("%d failures tell of the scenario before, want 2:\n%s", n, outcomes[0])
	}
	for _, outcome := range outcomes[1:] {
		if outcome != outcomes[0] {
			t.Errorf("more at the same time change the outcome:\n%s\nwithout them:\n%s", outcome, outcomes[0])
		}
	}
}

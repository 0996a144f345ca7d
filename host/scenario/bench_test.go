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

// runs are runs of scenarios, each of its own seed.
func runs(b *testing.B, list []*scenario.Scenario, n int) {
	b.Helper()
	jobs := make([]scenario.Job, n)
	for i := range jobs {
		seed := uint64(i)
		jobs[i] = scenario.Job{Scenario: list[i%len(list)], Options: &scenario.Options{Seed: &seed}}
	}
	b.ResetTimer()
	scenario.RunAll(context.Background(), jobs, 2, func(r *scenario.Result) {
		if !r.Passed() {
			b.Error(r.Failures)
		}
	})
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "scenarios/s")
}

// varied is a file of the queue example of the README with scripted handlers, in n
// variations: other policies, limits and bodies.
func varied(n int) string {
	var b strings.Builder
	for i := range n {
		retries, limit := i%5, 1+i/5%5
		fmt.Fprintf(&b, `---
name: order %[1]d is tried %[4]d times and ends in the poison queue
host: {extensions: {queues: {maxDequeueCount: %[3]d}}}
functions:
  ProcessOrder:
    trigger: {type: queueTrigger, queueName: orders}
    retry: {strategy: fixedDelay, maxRetryCount: %[2]d, delayInterval: "00:00:%02[5]d"}
    handler: fail
when:
  - send: {queue: orders, body: {id: "%[1]d", fail: true}}
then:
  functions: {ProcessOrder: {attempts: %[4]d, ends: poisoned}}
  queues: {orders-poison: [{id: "%[1]d", fail: true}]}
`, i, retries, limit, (retries+1)*limit, 1+i%59)
	}
	return b.String()
}

// The queue example of the README with a scripted handler, a host for each run.
func BenchmarkQueue(b *testing.B) {
	list, faults := scenario.Parse("a.scenario.yaml", []byte(varied(1000)))
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	runs(b, list, b.N)
}

// An app in JavaScript, whose worker is one process for many scenarios, or starts for each.
func BenchmarkWorker(b *testing.B) {
	if _, err := exec.LookPath("node"); err != nil {
		b.Skip("there is no node in PATH")
	}
	dir := b.TempDir()
	for name, text := range map[string]string{
		"host.json":                  `{"version": "2.0", "retry": {"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:01"}}`,
		"ProcessOrder/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "order", "queueName": "orders"}]}`,
		"ProcessOrder/index.js":      `module.exports = async (context, order) => { if (order.fail) throw new Error('payment service unavailable'); };`,
		"a.scenario.yaml": `app: .
when: [{send: {queue: orders, body: {id: "7", fail: true}}}]
then: {functions: {ProcessOrder: {attempts: 25, ends: poisoned}}}
---
ownWorker: true
app: .
when: [{send: {queue: orders, body: {id: "7", fail: true}}}]
then: {functions: {ProcessOrder: {attempts: 25, ends: poisoned}}}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	list, faults := scenario.Load(filepath.Join(dir, "a.scenario.yaml"))
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	for i, name := range []string{"shared", "own"} {
		b.Run(name, func(b *testing.B) { runs(b, list[i:i+1], b.N) })
	}
}

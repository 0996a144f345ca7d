package scenario_test

import (
	"context"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// The queue example of the README with a scripted handler, a host for each run.
func BenchmarkQueue(b *testing.B) {
	list, faults := scenario.Parse("a.scenario.yaml", []byte(`
functions:
  ProcessOrder:
    trigger: {type: queueTrigger, queueName: orders}
    retry: {strategy: fixedDelay, maxRetryCount: 4, delayInterval: "00:00:01"}
    handler: fail
when: [{send: {queue: orders, body: {id: 7}}}]
then: {functions: {ProcessOrder: {attempts: 25, ends: poisoned}}}
`))
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	jobs := make([]scenario.Job, b.N)
	for i := range jobs {
		seed := uint64(i)
		jobs[i] = scenario.Job{Scenario: list[0], Options: &scenario.Options{Seed: &seed}}
	}
	scenario.RunAll(context.Background(), jobs, 2, func(r *scenario.Result) {
		if !r.Passed() {
			b.Error(r.Failures)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
}

package scenario_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// triggersOfProperties are the sources of random scenarios, and what brings them work.
var triggersOfProperties = []struct{ trigger, work string }{
	{"{type: queueTrigger, queueName: parcels}", "send: {queue: parcels, bodies: [a, b, c]}"},
	{"{type: serviceBusTrigger, queueName: parcels}", "send: {serviceBus: parcels, bodies: [a, b]}"},
	{"{type: serviceBusTrigger, topicName: news, subscriptionName: all}", "send: {serviceBus: news, bodies: [a, b]}"},
	{"{type: eventHubTrigger, eventHubName: readings, cardinality: one}", "sendEvents: {eventHub: readings, bodies: [a, b]}"},
	{"{type: blobTrigger, path: \"pictures/{name}\"}", "upload: {blob: pictures/a.png, body: a}"},
	{"{type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true, startFromBeginning: true}", "write: {container: shop/orders, documents: [{id: \"7\"}]}"},
	{"{type: timerTrigger, schedule: \"0 */5 * * * *\"}", "advance: 12m"},
	{"{type: eventGridTrigger}", "publish: {topic: shop, events: [{subject: /orders/7}]}"},
	{"{type: httpTrigger, authLevel: anonymous, route: work}", "request: {method: GET, path: /api/work, patience: 10m, expect: {status: 200..599}}"},
}

// randomScenario is a scenario of a seed: a source, a policy, what the handler does, a
// crash or a fault. Whatever happens, the invariants hold.
func randomScenario(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	source := triggersOfProperties[rng.IntN(len(triggersOfProperties))]
	retries := rng.IntN(9)
	retry := pick("",
		fmt.Sprintf("    retry: {strategy: fixedDelay, maxRetryCount: %d, delayInterval: \"00:00:%02d\"}\n", retries, rng.IntN(60)),
		fmt.Sprintf("    retry: {strategy: exponentialBackoff, maxRetryCount: %d, minimumInterval: \"00:00:02\", maximumInterval: \"00:01:00\"}\n", retries))
	var script []string
	for range 1 + rng.IntN(3) {
		script = append(script, fmt.Sprintf("{do: %s, after: %ds, chance: 0.%d, take: %ds}", pick("fail", "fail", "succeed", "permanent", "retryNow", "retryAfter", "panic"), 1+rng.IntN(100), 1+rng.IntN(9), rng.IntN(90)))
	}
	var b strings.Builder
	if strings.Contains(source.trigger, "eventGrid") {
		b.WriteString("host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: index, function: Work}]}]}}}\n")
	}
	fmt.Fprintf(&b, "functions:\n  Work:\n    trigger: %s\n%s    handler: [%s]\nwhen:\n", source.trigger, retry, strings.Join(script, ", "))
	switch rng.IntN(6) {
	case 2:
		fmt.Fprintf(&b, "  - fault: {handler: Work, times: %d, after: %v, required: false}\n", 1+rng.IntN(2), rng.IntN(2) == 0)
	case 3:
		fmt.Fprintf(&b, "  - fault: {operation: %s, latency: %ds, times: 3, required: false}\n", pick("Delete", "Update", "Put", "Complete", "Abandon", "Receive"), 1+rng.IntN(40))
	case 0:
		fmt.Fprintf(&b, "  - fault: {operation: %s, times: %d, after: %v, required: false}\n", pick("Delete", "Update", "Put", "Complete", "Abandon", "Receive"), 1+rng.IntN(2), rng.IntN(2) == 0)
	case 1:
		fmt.Fprintf(&b, "  - fault: {operation: %s, lost: true, required: false}\n", pick("Delete", "Complete", "Abandon"))
	}
	fmt.Fprintf(&b, "  - %s\n", source.work)
	if rng.IntN(3) == 0 {
		fmt.Fprintf(&b, "  - advance: %ds\n  - crash: true\n  - start: true\n", rng.IntN(120))
	}
	b.WriteString("  - advance: 2h\nthen: {invariants: true, timeline: told.txt}\n")
	return b.String()
}

// Whatever the policies, handlers, faults and crashes are, the invariants hold, and the
// same seed gives the same lives. REDELIVER_SOAK asks for more seeds.
func TestInvariants(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if n, err := strconv.ParseUint(os.Getenv("REDELIVER_SOAK"), 10, 64); err == nil {
		seeds = max(seeds, 4*n)
	}
	for seed := range seeds {
		text := randomScenario(seed)
		list, faults := scenario.Parse(filepath.Join(t.TempDir(), "a.scenario.yaml"), []byte(text))
		if len(faults) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, faults, text)
		}
		for _, update := range []bool{true, false} { // the second run compares its lives with the first
			for _, f := range scenario.Run(context.Background(), list[0], &scenario.Options{Seed: &seed, Update: update}).Failures {
				t.Errorf("seed %d: %v\n%s", seed, f.String(), text)
			}
		}
	}
}

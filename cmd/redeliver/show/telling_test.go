package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/explain/explaintest"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/telemetry"
)

// randomRun is the journal of an app of a seed, whose functions fail by chance, and what
// telemetry counts of it.
func randomRun(t *testing.T, seed uint64) ([]journal.Record, map[string]int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	fails := func() error {
		if rng.IntN(2) == 0 {
			return errors.New("by chance")
		}
		return nil
	}
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return fails() }, functions.FixedDelay(rng.IntN(3), time.Second))
	handlers.ServiceBusQueue("Ship", "parcels", func(context.Context, functions.ServiceBusMessage) error { return fails() })
	handlers.EventHubBatch("Read", "readings", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error { return fails() }, functions.FixedDelay(rng.IntN(3), time.Second))
	handlers.Timer("Tick", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return fails() })
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Seed: seed, Files: map[string]string{"host.json": `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":2}}}`}})
	m := telemetry.NewMetrics(h.Journal(), nil, "")
	defer m.Close()
	for i := range 1 + rng.IntN(4) {
		h.Send("orders", strconv.Itoa(i))
		h.SendServiceBus("parcels", &servicebus.Message{Body: []byte("x"), MessageID: []string{"a", "b"}[rng.IntN(2)]})
		h.SendEvents("readings", "", "a", "b", "c")
	}
	h.Advance(20 * time.Minute)
	families, err := m.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for _, f := range families {
		what := map[string]string{"redeliver_deliveries_total": "deliveries", "redeliver_attempts_total": "attempts", "redeliver_settlements_total": "settled"}[f.GetName()]
		for _, s := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range s.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if what != "" {
				counted[strings.TrimSpace(labels["function"]+" "+what+" "+labels["decision"])] += int(s.GetCounter().GetValue())
			}
		}
	}
	return h.Journal().Records(), counted
}

// printed is what the printer counts: attempts and settlements in its lines, and the attempts
// that it adds up at the ends of messages.
func printed(records []journal.Record) (counted map[string]int, summed map[string]int) {
	p := New(Of{Out: cli.NewConsole(cli.Streams{Out: io.Discard, Err: io.Discard}, true), Pace: func() clock.Pace { return clock.Auto }, Running: func() bool { return false }, Verbose: true, Levels: func() hostjson.LogLevels { return hostjson.LogLevels{} }})
	counted, summed = map[string]int{}, map[string]int{}
	sum := regexp.MustCompile(`\((\d+) attempts?, `)
	for i := range records {
		r := &records[i]
		line := p.line(r)
		if r.Function == "" || line == "" {
			continue
		}
		switch r.Kind {
		case journal.Received:
			counted[r.Function+" deliveries"]++
		case journal.AttemptEnded:
			counted[r.Function+" attempts"]++
		case journal.Settled:
			counted[r.Function+" settled "+r.Decision]++
			if m := sum.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				summed[r.Function] += n
			}
		}
	}
	return counted, summed
}

// What explain, the page, the printer and telemetry count of random journals is the same.
func TestOneTelling(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		records, telemetered := randomRun(t, seed)
		shown, summed := printed(records)
		if diff := cmp.Diff(telemetered, shown); diff != "" {
			t.Errorf("seed %d, telemetry and printer (-telemetry +printer):\n%s", seed, diff)
		}
		told := map[string]string{}
		for _, l := range explain.Explain(records, explain.Subject{}) {
			last := ""
			if n := len(l.Entries); n > 0 {
				last = l.Entries[n-1].Text
			}
			told[fmt.Sprintln(l.Function, l.Message, l.Number, l.Source, strings.Contains(last, "poisoned"))] = fmt.Sprintf("%d deliveries, %d attempts, over %v", l.Deliveries, l.Attempts, l.Over)
		}
		for _, every := range []int{1, 7, len(records)} {
			page := map[string]string{}
			own := map[string]int{}
			for _, c := range explaintest.Read(records, every).Lives {
				attempts := 0
				for _, d := range c.Deliveries {
					attempts += len(d.Attempts)
					if c.Function != "" && d.Member == 0 {
						own[strings.TrimSpace(c.Function+" settled "+d.Decision)]++
					}
				}
				page[fmt.Sprintln(c.Function, c.Message, c.Number, c.Source, strings.Contains(c.State, "poisoned"))] = fmt.Sprintf("%d deliveries, %d attempts, over %v", len(c.Deliveries), attempts, c.Gone)
				if attempts != c.Attempts {
					t.Errorf("seed %d, changes after %d records: the head has %d attempts, the deliveries %d", seed, every, c.Attempts, attempts)
				}
				if c.Function != "" {
					own[c.Function+" deliveries"] += c.Own.Deliveries
					own[c.Function+" attempts"] += c.Own.Attempts
				}
			}
			if diff := cmp.Diff(told, page); diff != "" {
				t.Errorf("seed %d, changes after %d records, explain and page (-explain +page):\n%s", seed, every, diff)
			}
			if diff := cmp.Diff(telemetered, own); diff != "" {
				t.Errorf("seed %d, changes after %d records, telemetry and page (-telemetry +page):\n%s", seed, every, diff)
			}
			for function := range maps.Keys(summed) {
				if summed[function] != own[function+" attempts"] {
					t.Errorf("seed %d: the ends of %s tell of %d attempts, and there were %d", seed, function, summed[function], own[function+" attempts"])
				}
			}
		}
	}
}

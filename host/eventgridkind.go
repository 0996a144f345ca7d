package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	trigger "github.com/redeliver/redeliver/triggers/eventgrid"
)

// connectEventGrid makes the listener that the front brings requests to.
func connectEventGrid(f *function) error {
	f.events = trigger.New(f.gen.host.clk, &trigger.Options{
		Batch:  f.def.Trigger.Cardinality == "many",
		Schema: eventSchema(f.def.Trigger),
	})
	return nil
}

// eventSchema is what the parameter of the function holds: our own property
// eventSchema, because a function of another process does not say. Without it
// whatever comes is taken, as the platform does for functions in other languages
// than C#.
func eventSchema(b *app.Binding) trigger.Schema {
	switch schema := b.String("eventSchema"); {
	case strings.EqualFold(schema, string(eventgrid.EventGridSchema)):
		return trigger.EventGrid
	case strings.EqualFold(schema, string(eventgrid.CloudEventSchema)):
		return trigger.CloudEvents
	}
	return trigger.AnySchema
}

func listenEventGrid(t *turn) (triggers.Listener, error) { return t.events, nil }

func eventGridMessage(_ *Host, _ *function, input string) (triggers.Message, error) {
	if !json.Valid([]byte(input)) {
		return triggers.Message{}, fmt.Errorf("an Event Grid function is called with an event as JSON")
	}
	return trigger.Message(json.RawMessage(input)), nil
}

// subscriptionsTo are the event subscriptions in host.json that name a function.
func subscriptionsTo(a *app.App, f *app.Function) (found []eventgrid.Subscription) {
	var topics []gridTopic
	if raw := a.Config.EventGrid.Topics; raw == nil || json.Unmarshal(raw, &topics) != nil {
		return nil
	}
	for _, t := range topics {
		for _, s := range t.Subscriptions {
			if strings.EqualFold(s.Function, f.Name) {
				found = append(found, s)
			}
		}
	}
	return found
}

// eventGridDeliveries is how often an event that always fails is delivered: the
// most that one of the function's subscriptions tries by the app's schedule within
// its limits, or Event Grid's own limit.
func eventGridDeliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	schedule := eventgrid.Schedule(a.Switches.EventGridSchedule)
	for _, s := range subscriptionsTo(a, f) {
		n = max(n, schedule.Tries(s.MaxDeliveryAttempts, time.Duration(s.EventTimeToLiveInMinutes)*time.Minute, EventGridAnswer(f)))
	}
	if n == 0 {
		n = schedule.Tries(0, 0, EventGridAnswer(f))
	}
	return n, false
}

// EventGridAnswer is how long a function takes at least to answer for an event that
// always fails: its retry waits. Event Grid does not wait for longer than its response
// limit, and sends the event again while the attempts go on.
func EventGridAnswer(f *app.Function) time.Duration {
	least, _, _ := f.Policy.TotalWait()
	return least
}

func eventGridEnd(a *app.App, f *app.Function) string {
	var ends []string
	for _, s := range subscriptionsTo(a, f) {
		if end := s.End(); !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	if ends == nil {
		ends = []string{new(eventgrid.Subscription).End()}
	}
	deliveries, _ := eventGridDeliveries(a, f)
	return EventGridEnd(a, deliveries, ends)
}

// EventGridEnd is where the events of a function end that always fail, by the ends of
// its event subscriptions and the most deliveries that they make.
func EventGridEnd(a *app.App, deliveries int, ends []string) string {
	end := strings.Join(ends, " or ")
	if a.Switches.EventGridProbation && deliveries > eventgrid.ProbationFailures {
		end += " (probation makes deliveries fewer)"
	}
	return end
}

func validateEventGrid(_ *app.App, f *app.Function) []*schemas.Fault {
	schema := f.Trigger.String("eventSchema")
	if schema == "" || eventSchema(f.Trigger) != trigger.AnySchema {
		return nil
	}
	return []*schemas.Fault{{
		Path: f.Trigger.PathOf("eventSchema"), Found: schema, Allowed: `"EventGridSchema" or "CloudEventSchemaV1_0"`,
		Reason: "unknown schema of events", Kind: "argument",
	}}
}

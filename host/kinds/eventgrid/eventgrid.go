// Package eventgrid is the trigger and the output of Event Grid as the host knows them,
// and the topics that an app describes.
package eventgrid

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	trigger "github.com/redeliver/redeliver/triggers/eventgrid"
)

// Kind is the Event Grid trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "eventGridTrigger", NeedsStorage: true, TakesEvents: true, Redelivery: "Event Grid's schedule",
			Deliveries: deliveries, End: end, Validate: validate, Lint: lint,
		},
		Connect: connect, Listen: listen, Message: message, Hook: hook, ServeHook: serveHook, Observe: observe,
	}
}

// connect makes the listener that the host brings requests to.
func connect(f *kinds.Function) error {
	f.Served = trigger.New(f.Clock, &trigger.Options{
		Batch:  f.Def.Trigger.Cardinality == "many",
		Schema: eventSchema(f.Def.Trigger),
	})
	return nil
}

// eventSchema is the schema of the function's parameter: Redeliver's own
// property eventSchema, because a function of another process does not say.
// Without it every event is taken, as the platform does for functions in other
// languages than C#.
func eventSchema(b *app.Binding) trigger.Schema {
	switch schema := b.String("eventSchema"); {
	case strings.EqualFold(schema, string(eventgrid.EventGridSchema)):
		return trigger.EventGrid
	case strings.EqualFold(schema, string(eventgrid.CloudEventSchema)):
		return trigger.CloudEvents
	}
	return trigger.AnySchema
}

func listen(t *kinds.Turn) (triggers.Listener, error) { return t.Served.(*trigger.Listener), nil }

func hook(*kinds.Function) string { return "eventgrid" }

func serveHook(ctx context.Context, f *kinds.Function, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	return f.Served.(*trigger.Listener).Serve(ctx, req)
}

func message(_ *kinds.Function, input string) (triggers.Message, error) {
	if !json.Valid([]byte(input)) {
		return triggers.Message{}, fmt.Errorf("an Event Grid function is called with an event as JSON")
	}
	return trigger.Message(json.RawMessage(input)), nil
}

// subscriptionsTo are the event subscriptions in host.json that name a function.
func subscriptionsTo(a *app.App, f *app.Function) (found []eventgrid.Subscription) {
	var topics []described
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

// deliveries is how often an event that always fails is delivered: the
// most that one of the function's subscriptions tries by the app's schedule within
// its limits, or Event Grid's own limit.
func deliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	n, _ = fate(a, f, subscriptionsTo(a, f))
	if n == 0 {
		n = eventgrid.Schedule(a.Switches.EventGridSchedule).Tries(0, 0, answer(f))
	}
	return n, false
}

// fate is the most deliveries that event subscriptions to a function make of an event
// that always fails, and where it ends.
func fate(a *app.App, f *app.Function, subscriptions []eventgrid.Subscription) (most int, ends []string) {
	schedule := eventgrid.Schedule(a.Switches.EventGridSchedule)
	for _, s := range subscriptions {
		most = max(most, schedule.Tries(s.MaxDeliveryAttempts, time.Duration(s.EventTimeToLiveInMinutes)*time.Minute, answer(f)))
		if end := s.End(); !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return most, ends
}

// answer is how long a function takes at least to answer for an event that
// always fails: its retry waits. Event Grid does not wait for longer than its response
// limit, and sends the event again while the attempts go on.
func answer(f *app.Function) time.Duration {
	least, _, _ := f.Policy.TotalWait()
	return least
}

func end(a *app.App, f *app.Function) string {
	_, ends := fate(a, f, subscriptionsTo(a, f))
	if ends == nil {
		ends = []string{new(eventgrid.Subscription).End()}
	}
	n, _ := deliveries(a, f)
	return endText(a, n, ends)
}

func endText(a *app.App, deliveries int, ends []string) string {
	end := strings.Join(ends, " or ")
	if a.Switches.EventGridProbation && deliveries > eventgrid.ProbationFailures {
		end += " (probation makes deliveries fewer)"
	}
	return end
}

// observe makes the report cover all event subscriptions: the ones of host.json, which
// it knows, and the ones that were made while the host ran.
func observe(r *app.FunctionReport, a *app.App, f *app.Function, env *kinds.Env) {
	var subscriptions []eventgrid.Subscription
	for _, topic := range env.Embedded.EventGrid().Topics() {
		for _, s := range topic.Subscriptions {
			if strings.EqualFold(s.Function, journal.Qualified(env.AppName, f.Name)) {
				subscriptions = append(subscriptions, s.Subscription)
			}
		}
	}
	most, ends := fate(a, f, subscriptions)
	if most == 0 {
		r.Deliveries, r.Total, r.End = 0, 0, "no event subscription yet"
		return
	}
	r.Deliveries, r.End = most, endText(a, most, ends)
	if !r.AttemptsUnbounded {
		r.Total = r.Attempts * most
	}
}

func lint(r *app.Review) {
	r.LongLoop("L-8", 30*time.Second, "the longest retry loop takes {loop}; Event Grid waits 30 seconds for an answer and then delivers again: duplicates")
}

func validate(_ *app.App, f *app.Function) []*schemas.Fault {
	schema := f.Trigger.String("eventSchema")
	if schema == "" || eventSchema(f.Trigger) != trigger.AnySchema {
		return nil
	}
	return []*schemas.Fault{{
		Path: f.Trigger.PathOf("eventSchema"), Found: schema, Allowed: `"EventGridSchema" or "CloudEventSchemaV1_0"`,
		Reason: "unknown schema of events", Kind: "argument",
	}}
}

package eventhubs

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// Output is the Event Hubs output.
func Output() kinds.Binding {
	out := []string{"out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{Type: "eventHub", Of: "Event Hubs", Directions: out, Served: out, Connection: "EventHub", Validate: validateOutput},
		Output:      newOutput,
	}
}

// validateOutput checks the hub's name, unless the connection string names a hub, which
// goes before the binding's own name.
func validateOutput(a *app.App, _ *app.Function, b *app.Binding) []*schemas.Fault {
	if conn, _ := a.Settings.Connection(hubSetting(b)); strings.Contains(strings.ToLower(conn.Value), "entitypath=") {
		return nil
	}
	return kinds.MissingNames(b, "eventHubName")
}

// output sends events to a hub.
type output struct {
	hubs eventhubs.Namespace
	name *bindings.Template
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	hubs, err := namespaceOf(f, b)
	if err != nil {
		return nil, err
	}
	o := &output{hubs: hubs}
	name := hubName(f.App(), b)
	if o.name, err = bindings.ParseTemplate(name); err != nil {
		return nil, err
	}
	if hubs == eventhubs.Namespace(f.Embedded.EventHubs()) && !strings.Contains(name, "{") {
		if err := broker.CheckNames(name, ""); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Write sends one event for each element of the value, to one partition, all or none.
func (o *output) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	name, err := o.name.Resolve(a.Data())
	if err != nil {
		return err
	}
	events, err := eventhubs.EventsFrom(v)
	if err != nil || len(events) == 0 {
		return err
	}
	return o.hubs.SendEvents(ctx, name, nil, events...)
}

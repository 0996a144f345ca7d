package eventgrid

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
)

// Output is the Event Grid output.
func Output() kinds.Binding {
	out := []string{"out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{Type: "eventGrid", Of: "Event Grid", Directions: out, Served: out, Validate: validateOutput},
		Output:      newOutput,
	}
}

// validateOutput checks that an output says which topic it is for: by the name of a
// setting with its endpoint, or of a connection that holds one.
func validateOutput(a *app.App, f *app.Function, b *app.Binding) []*schemas.Fault {
	const key = "topicEndpointUri"
	if a.Settings.Unreadable() || f.FaultIn(b.PathOf(key)) || f.FaultIn(b.PathOf("connection")) {
		return nil
	}
	fault := &schemas.Fault{Path: b.PathOf(key), Kind: schemas.KindInvalidOperation, Allowed: "the name of a setting"}
	switch setting := b.String(key); {
	case setting != "":
		if a.Settings.Get(setting) != "" {
			return nil
		}
		fault.Found = schemas.Quote(setting)
		fault.Reason = fmt.Sprintf("output binding %q: setting %q with the topic's endpoint is missing", b.Name, setting)
		fault.Hint = fmt.Sprintf("set %s in the environment or under Values in local.settings.json", setting)
	case b.Connection == "":
		fault.Allowed = "topicEndpointUri or connection"
		fault.Reason = fmt.Sprintf("output binding %q: the name of the setting with the topic's endpoint is needed", b.Name)
	default:
		if _, ok := a.Settings.Connection(b.Connection); ok {
			return nil
		}
		fault.Path, fault.Found = b.PathOf("connection"), schemas.Quote(b.Connection)
		fault.Reason = fmt.Sprintf("output binding %q: connection %q with the topic's endpoint is missing", b.Name, b.Connection)
	}
	return []*schemas.Fault{fault}
}

// output publishes events to a topic.
type output struct {
	b     *app.Binding
	grid  *eventgrid.Grid
	topic string
	key   string
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	o := &output{b: b, grid: f.Embedded.EventGrid()}
	settings := f.App().Settings
	setting, endpoint := b.String("topicEndpointUri"), ""
	switch {
	case setting != "":
		endpoint = settings.Get(setting)
		o.key = settings.Get(b.String("topicKeySetting"))
	case b.Connection != "":
		setting = b.Connection
		if conn, ok := settings.Connection(b.Connection); ok {
			endpoint = services.Fields(conn)["topicendpointuri"]
		}
	default:
		return nil, fmt.Errorf("output binding %q: topicEndpointUri or connection is needed: the name of the setting with the topic's endpoint", b.Name)
	}
	if endpoint == "" {
		return nil, fmt.Errorf("output binding %q: setting %q with the topic's endpoint is missing", b.Name, setting)
	}
	var err error
	if o.topic, err = f.Connections.GridTopic(setting, endpoint); err != nil {
		return nil, fmt.Errorf("output binding %q: %w", b.Name, err)
	}
	return o, nil
}

// Write publishes one event for each element of the value, all or none.
func (o *output) Write(ctx context.Context, _ kinds.Attempt, v bindings.Value) error {
	bodies, err := bindings.MessagesFrom(v)
	if err != nil || len(bodies) == 0 {
		return err
	}
	topic, err := o.grid.Topic(o.topic)
	if err != nil {
		return err
	}
	if o.key != "" && o.key != topic.Key {
		return fmt.Errorf("topic %q: setting %q does not hold the topic's key", o.topic, o.b.String("topicKeySetting"))
	}
	list := []byte{'['}
	for i, body := range bodies {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, body...)
	}
	events, err := eventgrid.ParseEvents(append(list, ']'), topic.InputSchema)
	if err != nil {
		return err
	}
	return o.grid.Publish(ctx, o.topic, events...)
}

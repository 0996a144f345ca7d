package servicebus

import (
	"context"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
)

// Output is the Service Bus output.
func Output() kinds.Binding {
	out := []string{"out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{Type: "serviceBus", Of: "Service Bus", Directions: out, Served: out, Connection: "ServiceBus"},
		Output:      newOutput,
	}
}

// output sends messages to a queue or a topic.
type output struct {
	f  *kinds.Function
	ns servicebus.Namespace

	topic  bool
	entity *bindings.Template
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	ns, err := namespaceOf(f, b)
	if err != nil {
		return nil, err
	}
	o := &output{f: f, ns: ns}
	name := b.String("queueName")
	if topic := b.String("topicName"); topic != "" {
		if name != "" {
			return nil, fmt.Errorf("output binding %q: queueName and topicName exclude each other", b.Name)
		}
		name, o.topic = topic, true
	}
	if name == "" {
		return nil, fmt.Errorf("output binding %q: queueName or topicName is needed", b.Name)
	}
	if o.entity, err = bindings.ParseTemplate(name); err != nil {
		return nil, err
	}
	return o, nil
}

// create makes an entity whose name is known at run time, as Name does.
func (o *output) create(name string) error {
	f := o.f
	path, err := servicebus.ParsePath(name)
	switch {
	case f.App().Switches.AutoCreateEntities == "none", o.ns != servicebus.Namespace(f.Embedded.ServiceBus()):
		return nil
	case o.topic:
		return createTopic(f.Root, f.Embedded.ServiceBus(), name)
	case err != nil:
		return err
	}
	return createEntity(f.Root, f.Embedded.ServiceBus(), path, receivesSessions(f.App(), path))
}

// Write sends one message for each element of the value, all or none.
func (o *output) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	name, err := o.entity.Resolve(a.Data())
	if err != nil {
		return err
	}
	messages, err := servicebus.MessagesFrom(v)
	if err != nil || len(messages) == 0 {
		return err
	}
	if strings.Contains(o.entity.String(), "{") {
		if err := o.create(name); err != nil {
			return err
		}
	}
	return o.ns.Send(ctx, name, messages...)
}

package host

import (
	"context"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/app"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
)

// eventHubs returns the Event Hubs namespace that a binding's connection names.
func (f *function) eventHubs(b *app.Binding) (eventhubsapi.Namespace, error) {
	conn, ok := f.gen.app.Settings.Connection(hubSetting(b))
	if !ok {
		return nil, app.MissingConnection(hubSetting(b))
	}
	return f.gen.host.connections.EventHubs(conn)
}

func connectEventHub(f *function) error {
	b := f.def.Trigger
	hubs, err := f.eventHubs(b)
	if err == nil && hubs == eventhubsapi.Namespace(f.gen.host.embedded.EventHubs()) {
		err = broker.CheckNames(hubName(f.gen.app, b), consumerGroup(b))
	}
	return err
}

// validateEventHub checks what the schema cannot: names that come out of settings,
// and that there is a hub. Another namespace than an emulator's says itself what it
// does not take.
func validateEventHub(a *app.App, f *app.Function) []*schemas.Fault {
	b := f.Trigger
	hub, group := hubName(a, b), consumerGroup(b)
	fault := func(property, found, allowed, reason string) []*schemas.Fault {
		return []*schemas.Fault{{Path: b.PathOf(property), Found: found, Allowed: allowed, Reason: reason, Kind: schemas.KindArgument}}
	}
	if hub == "" {
		return fault("eventHubName", "", "the name of a hub, here or as EntityPath of the connection string", "is empty")
	}
	if conn, ok := a.Settings.Connection(hubSetting(b)); !ok || !strings.EqualFold(services.Fields(conn)["usedevelopmentemulator"], "true") {
		return nil
	}
	if err := broker.CheckNames(hub, ""); err != nil {
		return fault("eventHubName", hub, "", err.Error())
	}
	if err := broker.CheckNames(hub, group); err != nil {
		return fault("consumerGroup", group, "", err.Error())
	}
	return nil
}

func listenEventHub(t *turn) (triggers.Listener, error) {
	f, h := t.function, t.gen.host
	b := f.def.Trigger
	hubs, err := f.eventHubs(b)
	if err != nil {
		return nil, err
	}
	conn, ok := f.gen.app.Settings.Connection("Storage")
	if !ok {
		return nil, app.MissingConnection("Storage")
	}
	blobs, err := h.connections.Blobs(conn)
	if err != nil {
		return nil, err
	}
	hubs, blobs = t.hubs(hubs), t.blobAccount(blobs)
	conf := f.gen.app.Config.EventHubs
	opts := &eventhubs.Options{
		ConsumerGroup:       consumerGroup(b),
		Batch:               b.Cardinality != "one",
		MaxEventBatchSize:   conf.MaxEventBatchSize,
		MinEventBatchSize:   conf.MinEventBatchSize,
		MaxWait:             conf.MaxWaitTime,
		CheckpointFrequency: conf.BatchCheckpointFrequency,
		OwnershipExpiration: conf.PartitionOwnershipExpirationInterval,
		UpdateInterval:      conf.LoadBalancingUpdateInterval,
		Balanced:            conf.Balanced,
		Owner:               h.opts.Instance + "/" + f.def.Name,
		Alone:               !f.gen.shares() && !f.gen.competes(f),
		DataType:            b.DataType,
		Written:             func(c eventhubs.CheckpointWritten) { f.checkpointWritten(c) },
		Notify: func(source, what string, err error) {
			if h.connections.TellsOutage(err) {
				return
			}
			h.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type,
				Source: source, Message: what, Error: err.Error(),
			})
		},
	}
	if opts.MaxWait == 0 {
		opts.MaxWait = -1
	}
	switch conf.InitialOffset {
	case "fromEnd":
		opts.Initial.Latest = true
	case "fromEnqueuedTime":
		opts.Initial.EnqueuedTime = conf.EnqueuedTime
	}
	return eventhubs.New(h.clk, hubs, hubName(f.gen.app, b), blobs.Container(eventhubs.Container), opts), nil
}

// checkpointWritten writes into the journal how far a partition has been read.
func (f *function) checkpointWritten(c eventhubs.CheckpointWritten) {
	f.gen.host.journal.Append(journal.Record{
		Kind: journal.CheckpointWritten, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type, Source: c.Source,
		Fields: []journal.Field{
			{Key: "sequence_number", Value: strconv.FormatInt(c.SequenceNumber, 10)},
			{Key: "offset", Value: c.Offset},
		},
	})
}

// competes reports whether another function reads the hub in the same consumer group:
// then each has some of the partitions, as if they were on two hosts.
func (g *generation) competes(f *function) bool {
	for _, other := range g.functions {
		if other != f && other.kind.Type == f.kind.Type && !other.def.Disabled &&
			strings.EqualFold(hubName(g.app, other.def.Trigger), hubName(g.app, f.def.Trigger)) &&
			strings.EqualFold(consumerGroup(other.def.Trigger), consumerGroup(f.def.Trigger)) {
			return true
		}
	}
	return false
}

func consumerGroup(b *app.Binding) string {
	if group := b.String("consumerGroup"); group != "" {
		return group
	}
	return eventhubsapi.DefaultConsumerGroup
}

func eventHubMessage(_ *Host, f *function, input string) (triggers.Message, error) {
	return eventhubs.Message([]byte(input), f.def.Trigger.DataType), nil
}

func eventHubEnd(*app.App, *app.Function) string {
	return "the checkpoint moves on, the events are lost"
}

// eventHubOutput sends events to a hub.
type eventHubOutput struct {
	b    *app.Binding
	hubs eventhubsapi.Namespace
	name *bindings.Template
}

func newEventHubOutput(f *function, b *app.Binding) (output, error) {
	hubs, err := f.eventHubs(b)
	if err != nil {
		return nil, err
	}
	o := &eventHubOutput{b: b, hubs: hubs}
	name := hubName(f.gen.app, b)
	if o.name, err = bindings.ParseTemplate(name); err != nil {
		return nil, err
	}
	if hubs == eventhubsapi.Namespace(f.gen.host.embedded.EventHubs()) && !strings.Contains(name, "{") {
		if err := broker.CheckNames(name, ""); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *eventHubOutput) binding() *app.Binding { return o.b }

// write sends one event for each element of the value, to one partition, all or none.
func (o *eventHubOutput) write(ctx context.Context, d *delivery, v bindings.Value) error {
	name, err := o.name.Resolve(d.bindingData())
	if err != nil {
		return err
	}
	events, err := eventhubsapi.EventsFrom(v)
	if err != nil || len(events) == 0 {
		return err
	}
	return o.hubs.SendEvents(ctx, name, nil, events...)
}

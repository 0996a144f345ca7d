// Package eventhubs is the trigger and the output of Event Hubs as the host knows them,
// and what an app names in the embedded namespace.
package eventhubs

import (
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	trigger "github.com/redeliver/redeliver/triggers/eventhubs"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is the Event Hubs trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "eventHubTrigger", NeedsStorage: true, OfficialRetry: true, Connection: "EventHub",
			Endless: "a batch that always fails blocks its partition", Feeds: kinds.Fed("eventHub", kinds.Named{Key: "eventHubName", Noun: "event hub"}),
			End: end, Validate: validate,
		},
		Serial: true, Connect: connect, Listen: listen, Unsettled: triggers.NotCheckpointed, Message: message,
	}
}

// namespaceOf returns the Event Hubs namespace that a binding's connection names.
func namespaceOf(f *kinds.Function, b *app.Binding) (eventhubs.Namespace, error) {
	conn, err := f.Connection(b.Connection, "EventHub")
	if err != nil {
		return nil, err
	}
	return f.Connections.EventHubs(conn)
}

func connect(f *kinds.Function) error {
	b := f.Def.Trigger
	hubs, err := namespaceOf(f, b)
	if err == nil && hubs == eventhubs.Namespace(f.Embedded.EventHubs()) {
		err = broker.CheckNames(hubName(f.App(), b), consumerGroup(b))
	}
	return err
}

// validate checks what the schema cannot: names that come out of settings,
// and that there is a hub. Another namespace than an emulator's says itself what it
// does not take.
func validate(a *app.App, f *app.Function) []*schemas.Fault {
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

func listen(t *kinds.Turn) (triggers.Listener, error) {
	f := t.Function
	b := f.Def.Trigger
	hubs, err := namespaceOf(f, b)
	if err != nil {
		return nil, err
	}
	blobs, err := f.Blobs("")
	if err != nil {
		return nil, err
	}
	hubs, blobs = t.EventHubsIn(hubs), t.BlobsIn(blobs)
	conf := f.App().Config.EventHubs
	opts := &trigger.Options{
		ConsumerGroup:       consumerGroup(b),
		Batch:               b.Cardinality == "many",
		MaxEventBatchSize:   conf.MaxEventBatchSize,
		MinEventBatchSize:   conf.MinEventBatchSize,
		MaxWait:             conf.MaxWaitTime,
		CheckpointFrequency: conf.BatchCheckpointFrequency,
		NoCheckpoints:       !conf.EnableCheckpointing,
		OwnershipExpiration: conf.PartitionOwnershipExpirationInterval,
		UpdateInterval:      conf.LoadBalancingUpdateInterval,
		Balanced:            conf.Balanced,
		Owner:               f.Instance + "/" + f.Def.Name,
		Alone:               !f.Locks().Shares() && !competes(f),
		DataType:            kinds.DataType(f),
		TextMembers:         kinds.OfThePlatform(f),
		Written:             func(c trigger.CheckpointWritten) { checkpointWritten(f, c) },
		Notify: func(source, what string, err error) {
			if f.Connections.TellsOutage(err) {
				return
			}
			f.Journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: f.ID(), Function: f.Def.Name, Trigger: f.Def.Kind.Type,
				Source: source, Message: what, Error: err.Error(),
			})
		},
	}
	if f.Def.DefersTrigger() {
		opts.Value = model
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
	return trigger.New(f.Clock, hubs, hubName(f.App(), b), blobs.Container(trigger.Container), opts), nil
}

// checkpointWritten writes into the journal how far a partition has been read.
func checkpointWritten(f *kinds.Function, c trigger.CheckpointWritten) {
	f.Journal.Append(journal.Record{
		Kind: journal.CheckpointWritten, Generation: f.ID(), Function: f.Def.Name, Trigger: f.Def.Kind.Type, Source: c.Source,
		Fields: []journal.Field{
			{Key: "sequence_number", Value: strconv.FormatInt(c.SequenceNumber, 10)},
			{Key: "offset", Value: c.Offset},
		},
	})
}

// competes reports whether another function reads the hub in the same consumer group:
// then each has some of the partitions, as if they were on two hosts.
func competes(f *kinds.Function) bool {
	for _, other := range f.Functions() {
		if other != f && other.Def.Trigger.Is("eventHubTrigger") && !other.Def.Disabled &&
			strings.EqualFold(hubName(f.App(), other.Def.Trigger), hubName(f.App(), f.Def.Trigger)) &&
			strings.EqualFold(consumerGroup(other.Def.Trigger), consumerGroup(f.Def.Trigger)) {
			return true
		}
	}
	return false
}

func consumerGroup(b *app.Binding) string {
	if group := b.String("consumerGroup"); group != "" {
		return group
	}
	return eventhubs.DefaultConsumerGroup
}

func message(f *kinds.Function, input string) (triggers.Message, error) {
	m := trigger.Message([]byte(input), kinds.DataType(f), f.Def.Trigger.Cardinality == "many")
	if f.Def.DefersTrigger() {
		m.Metadata = nil
		m.Value = model(&eventhubs.ReceivedEvent{Event: eventhubs.Event{Body: []byte(input)}, EnqueuedTime: f.Clock.Now()})
	}
	return m, nil
}

// model is an event as model binding data: the message as AMQP has it (spec
// workers-dotnet-java 1.8).
func model(e *eventhubs.ReceivedEvent) bindings.Value {
	return bindings.Value{Kind: bindings.Model, Model: &bindings.ModelData{
		Source: "AzureEventHubsEventData", ContentType: bindings.ModelBytes, Content: hubs.Append(nil, e),
	}}
}

func end(a *app.App, _ *app.Function) string {
	if !a.Config.EventHubs.EnableCheckpointing {
		return "the batch is lost for this process; a restart reads it again"
	}
	return "the checkpoint moves on, the events are lost"
}

package main

import (
	"context"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/cmd/redeliver/verbs"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
)

// The tools that make and remove entities. Where a command takes two kinds of entity by one
// name, an assistant has a way for each: a topic and its subscription, a hub and its group.

func (a *assistant) creates() []mcp.Way {
	topic := mcp.Asked(a.maskedTopic, "eventgrid", mcp.Changes, eventgrid.CreateTopic{}, func(_ *eventgrid.CreateTopic, made *eventgrid.GridTopic) string {
		return cli.Textf("created topic %q (%s)\n", made.Name, made.InputSchema)
	}).Named("topic").Described("name", "TOPIC")
	subscription := mcp.Asked(a.ask, "subscription", mcp.Changes, eventgrid.Subscribe{}, func(_ *eventgrid.Subscribe, made *eventgrid.Subscribed) string {
		return cli.Textf("created event subscription %q (%s)\n", made.Topic+"/"+made.Subscription, made.State)
	}).Described("name", "the event subscription").Described("topic", "the topic of the event subscription")
	group := mcp.Asked(a.ask, "consumergroup", mcp.Changes, eventhubs.CreateGroup{}, func(_ *eventhubs.CreateGroup, made *eventhubs.GroupCreated) string {
		return cli.Textf("created consumer group %q of event hub %q\n", made.ConsumerGroup, made.Hub)
	}).Named("group").Described("name", "the consumer group").Described("hub", "the hub of the consumer group")
	return []mcp.Way{verbs.CreateBus.Way(a.ask), topic, subscription, verbs.CreateHub.Way(a.ask), group, verbs.CreateCosmos.Way(a.ask), verbs.CreateTable.Way(a.ask)}
}

func (a *assistant) deletes() []mcp.Way {
	subscription := mcp.Asked(a.ask, "subscription", mcp.Destroys, eventgrid.Unsubscribe{}, func(in *eventgrid.Unsubscribe, out *eventgrid.GridDeleted) string {
		return cli.Textf("deleted event subscription %q with %s\n", in.Topic+"/"+in.Subscription, cli.Plural(out.Pending, "pending event"))
	}).Described("name", "the event subscription").Described("topic", "the topic of the event subscription")
	return []mcp.Way{verbs.DeleteBus.Way(a.ask), verbs.DeleteGrid.Way(a.ask), subscription, verbs.DeleteCosmos.Way(a.ask), verbs.DeleteTable.Way(a.ask)}
}

// maskedTopic is ask for a topic, whose key is not told.
func (a *assistant) maskedTopic(ctx context.Context, in, out any) error {
	err := a.ask(ctx, in, out)
	if made, ok := out.(*eventgrid.GridTopic); ok && made.Key != "" {
		made.Key = hidden
	}
	return err
}

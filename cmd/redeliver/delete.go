package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

func newDelete(std cli.Streams) *cobra.Command {
	return cli.Group("delete servicebus|eventgrid|cosmos NAME", "Remove an entity of Service Bus, Event Grid or Cosmos DB",
		newDeleteBus(std), newDeleteGrid(std), newDeleteCosmos(std))
}

func newDeleteBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "Remove a queue, topic or subscription with its messages",
		Long: `Delete removes a queue, a topic with its subscriptions, or a subscription from
the Service Bus namespace of the running host, with all messages and dead
letters. A receiver with a message in work finds that its lock is lost.

The next load of the app makes an entity again that a function or the file of
entities names.`,
		Example: `  redeliver delete servicebus orders
  redeliver delete servicebus events/Subscriptions/all`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeBus(&r.Target, func(e *servicebus.BusEntity) []string { return []string{e.Path} }),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			return remote.Tell(cmd, r, servicebus.DeleteEntity{Path: path}, deletedBus)
		},
	})
}

func deletedBus(out *servicebus.EntityDeleted) string {
	return cli.Textf("deleted %s %q with %s%s\n", out.Kind, out.Path, subscriptionsAnd(out.Subscriptions, "subscription"), cli.Plural(int(out.Messages), "message"))
}

func newDeleteGrid(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "eventgrid TOPIC[/SUBSCRIPTION]",
		Short: "Remove a topic of Event Grid, or an event subscription",
		Long: `Delete removes a topic with its event subscriptions, or one event subscription,
from the Event Grid of the running host. Undelivered events go with it, and are
not dead-lettered.

The next load of the app makes again the topics and subscriptions of host.json.`,
		Example: `  redeliver delete eventgrid shop
  redeliver delete eventgrid shop/audit`,
		Args: cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, func(inv *run.Inventory) (names []string) {
			for _, topic := range inv.EventGrid {
				names = append(names, topic.Name)
				for i := range topic.Subscriptions {
					names = append(names, topic.Name+"/"+topic.Subscriptions[i].Name)
				}
			}
			return names
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, subscription, isSubscription := strings.Cut(args[0], "/")
			if name == "" || isSubscription && subscription == "" {
				return cli.Hinted(cli.Misused(fmt.Errorf("%q: want a topic, or a topic and a subscription", args[0])), "for instance shop or shop/orders")
			}
			if isSubscription {
				return remote.Tell(cmd, r, eventgrid.Unsubscribe{Topic: name, Subscription: subscription}, deletedGrid)
			}
			return remote.Tell(cmd, r, eventgrid.DeleteTopic{Topic: name}, deletedGrid)
		},
	})
}

func deletedGrid(out *eventgrid.GridDeleted) string {
	what := cli.Textf("topic %q", out.Topic)
	if out.Subscription != "" {
		what = cli.Textf("event subscription %q", out.Topic+"/"+out.Subscription)
	}
	return cli.Textf("deleted %s with %s%s\n", what, subscriptionsAnd(out.Subscriptions, "event subscription"), cli.Plural(out.Pending, "pending event"))
}

// subscriptionsAnd begins a list with the subscriptions that a topic had.
func subscriptionsAnd(n int, what string) string {
	if n == 0 {
		return ""
	}
	return cli.Plural(n, what) + " and "
}

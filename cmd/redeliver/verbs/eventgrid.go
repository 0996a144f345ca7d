package verbs

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/messages"
)

// SendGrid publishes events to a topic.
var SendGrid = Verb[eventgrid.Publish, eventgrid.Published]{ // read only
	Use: "eventgrid TOPIC [JSON|FILE|-]", Short: "Publish events to a topic of Event Grid",
	Long: `Send publishes one event, or an array of events, to a topic of the running host.
FILE holds them as JSON, in the schema that the topic takes; "-" reads them from
the standard input. The JSON itself may stand in the place of FILE. Without FILE
the event is an empty one.

Required fields that are missing are added: an ID, the time of the host's clock,
a subject and a type. --raw publishes the text unchanged, and shows the answer
of the service.`,
	Example: `  redeliver send eventgrid shop '{"eventType":"order.placed","data":{"id":"7"}}'
  redeliver send eventgrid shop events.json`,
	Names: topicNames, Body: jsonOrFile, Text: published,
}

func published(_ *eventgrid.Publish, sent *eventgrid.Published) string {
	what := cli.Plural(len(sent.IDs), "event")
	if len(sent.IDs) == 1 {
		what = sent.IDs[0]
	}
	return cli.Textf("published %s to topic %q\n", what, sent.Topic)
}

// jsonOrFile reads the argument behind a name: JSON as it stands there, a file, or "-"
// for the standard input.
func jsonOrFile(std cli.Streams, args []string) ([]byte, error) {
	switch {
	case len(args) == 0:
		return nil, nil
	case args[0] == "-":
		return remote.Body(std, args)
	}
	if text := strings.TrimSpace(args[0]); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return []byte(text), nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, cli.Hinted(fmt.Errorf("cannot read %q: %w", args[0], cli.Reason(err)), "only a text that begins with { or [, or is -, is not the name of a file")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, remote.MostInput))
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", args[0], cli.Reason(err))
	}
	return text, nil
}

// DeleteGrid removes a topic, or an event subscription.
var DeleteGrid = Verb[eventgrid.DeleteTopic, eventgrid.GridDeleted]{ // read only
	Use: "eventgrid TOPIC[/SUBSCRIPTION]", Short: "Remove a topic of Event Grid, or an event subscription",
	Long: `Delete removes a topic with its event subscriptions, or one event subscription,
from the Event Grid of the running host. Undelivered events go with it, and are
not dead-lettered.

The next load of the app makes again the topics and subscriptions of host.json.`,
	Example: `  redeliver delete eventgrid shop
  redeliver delete eventgrid shop/audit`,
	Names: topicAndSubscriptionNames,
	Text:  func(_ *eventgrid.DeleteTopic, out *eventgrid.GridDeleted) string { return deletedGrid(out) },
	Instead: func(cmd *cobra.Command, r *remote.Remote, in *eventgrid.DeleteTopic) (bool, error) {
		topic, subscription, is, err := gridPath(in.Topic)
		if !is || err != nil {
			return false, err
		}
		return true, remote.Tell(cmd, r, eventgrid.Unsubscribe{Topic: topic, Subscription: subscription}, remote.Text(deletedGrid))
	},
}

func deletedGrid(out *eventgrid.GridDeleted) string {
	what := cli.Textf("topic %q", out.Topic)
	if out.Subscription != "" {
		what = cli.Textf("event subscription %q", out.Topic+"/"+out.Subscription)
	}
	return cli.Textf("deleted %s with %s%s\n", what, subscriptionsAnd(out.Subscriptions, "event subscription"), cli.Plural(out.Pending, "pending event"))
}

// gridPath takes apart the name of a topic, or of a subscription.
func gridPath(text string) (topic, subscription string, isSubscription bool, err error) {
	topic, subscription, isSubscription = strings.Cut(text, "/")
	if topic == "" || isSubscription && subscription == "" {
		err = cli.Hinted(cli.Misused(fmt.Errorf("%q: want a topic, or a topic and a subscription", text)), "for instance shop or shop/orders")
	}
	return topic, subscription, isSubscription, err
}

// RedriveGrid gives dead-lettered events back to their subscription.
var RedriveGrid = Verb[messages.RedriveMessages, ops.Redriven]{ // read only
	In:  messages.RedriveMessages{MessageName: ops.MessageName{Service: "eventgrid"}},
	Use: "eventgrid TOPIC/SUBSCRIPTION", Short: "Give dead-lettered events back to their subscription",
	Long: `Redrive gives the events that a subscription has dead-lettered back to it, the
oldest first; with --event only those of one event. No other subscription of the
topic gets them. Each is tried as a new event, with all its attempts, and its
blob is deleted. The journal has a record "forwarded" with the cause "redrive"
for each.

An event is kept by its subscription before its blob is deleted: after a crash
on the way it is in both places, and never lost.`,
	Example: `  redeliver redrive eventgrid shop/orders
  redeliver redrive eventgrid shop/orders --event 1807`,
	Args: []string{"Entity"}, Words: []Word{{"ID", "event", "only the dead letters of the event with this ID"}},
	Names: deadLettering,
	Check: func(in *messages.RedriveMessages) error {
		if topic, subscription, _ := strings.Cut(in.Entity, "/"); topic == "" || subscription == "" {
			return cli.Hinted(cli.Misused(fmt.Errorf("%q: want a topic and a subscription", in.Entity)), "for instance shop/orders")
		}
		return nil
	},
	Text: func(_ *messages.RedriveMessages, done *ops.Redriven) string {
		return cli.Textf("gave %s back to event subscription %q\n", cli.Plural(done.Moved, "event"), done.To)
	},
}

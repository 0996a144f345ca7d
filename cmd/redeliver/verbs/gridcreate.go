package verbs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
)

const createGridLong = `Create makes a topic in the Event Grid of the running host, or an event
subscription of a topic. A subscription gets the events that its filters let
through.

For a topic, --schema is the schema of the publishers, and --key is their key;
both are printed with the endpoint. A topic is made once, and cannot be changed.

For an event subscription, --endpoint receives the events: a function of the app
with an eventGridTrigger, or the URL of a web hook on this machine. A web hook
has to answer the validation. All flags but --key are for subscriptions, and
--schema is the schema of the deliveries. An existing subscription is replaced
as a whole, and keeps its events.

For more than a few, and for advanced filters, describe them in host.json under
redeliver.eventGrid. "redeliver ls eventgrid" shows all, "redeliver delete
eventgrid" removes one.`

// newGrid is a topic or an event subscription that is to be made.
type newGrid struct {
	topic            eventgrid.CreateTopic
	sub              eventgrid.Subscribe
	schema, endpoint string
	life             cli.Span
}

// createGrid is the command for either: which one says the name.
func createGrid(std cli.Streams) *cobra.Command {
	r, n := &remote.Remote{Std: std}, &newGrid{}
	cmd := &cobra.Command{
		Use: "eventgrid TOPIC[/SUBSCRIPTION]", Short: "Make a topic of Event Grid, or an event subscription", Long: createGridLong,
		Example: `  redeliver create eventgrid shop
  redeliver create eventgrid shop/orders --endpoint ProcessOrder --dead-letter-container dead
  redeliver create eventgrid shop/audit --endpoint http://localhost:8080/hook --max-attempts 5`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := fill(cmd, reflect.ValueOf(&n.topic).Elem(), nil, nil, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.take(args); err != nil {
			return err
		}
		topic, subscription, is, err := gridPath(n.topic.Topic)
		if err == nil {
			err = gridFlagsFit(cmd, is)
		}
		if err == nil && is {
			err = n.subscription(topic, subscription)
		} else if err == nil {
			n.topic.InputSchema, err = gridSchema(n.schema)
		}
		switch {
		case err != nil:
			return err
		case is:
			return remote.Tell(cmd, r, n.sub, remote.Text(func(made *eventgrid.Subscribed) string { return createdSubscription(made, n.endpoint) }))
		}
		return remote.Tell(cmd, r, n.topic, remote.Text(func(made *eventgrid.GridTopic) string { return createdTopic(r, made) }))
	}
	flags, sub := cmd.Flags(), &n.sub
	flags.StringVar(&n.schema, "schema", "", "eventgrid or cloudevents: the schema that a topic takes (default eventgrid), or a subscription delivers (default as its topic)")
	flags.StringVar(&n.endpoint, "endpoint", "", "function, or URL of a web hook, that gets the events")
	flags.StringSliceVar(&sub.IncludedEventTypes, "event-type", nil, "only events of this type (repeatable)")
	flags.StringVar(&sub.SubjectBeginsWith, "subject-begins-with", "", "only events whose subject begins with this")
	flags.StringVar(&sub.SubjectEndsWith, "subject-ends-with", "", "only events whose subject ends with this")
	flags.IntVar(&sub.MaxDeliveryAttempts, "max-attempts", 0, "attempts for one event, 1 to 30 (default 30)")
	flags.Var(&n.life, "ttl", "time to live of an event, 1m to 24h (default 24h)")
	flags.StringVar(&sub.DeadLetterContainer, "dead-letter-container", "", "existing container for events that are given up (default: they are dropped)")
	return r.Changes(cmd)
}

// subscription completes the subscription.
func (n *newGrid) subscription(topic, name string) (err error) {
	if n.endpoint == "" {
		return cli.Hinted(cli.Misused(errors.New("an event subscription needs --endpoint")), "the name of a function, or the URL of a web hook on this machine")
	}
	n.sub.Topic, n.sub.Name = topic, name
	if strings.Contains(n.endpoint, "://") {
		n.sub.Endpoint = n.endpoint
	} else {
		n.sub.Function = n.endpoint
	}
	if n.sub.EventDeliverySchema, err = gridSchema(n.schema); err != nil {
		return err
	}
	ttl := time.Duration(n.life)
	if ttl%time.Minute != 0 {
		return cli.Misused(errors.New("--ttl: want whole minutes"))
	}
	n.sub.EventTimeToLiveInMinutes = int(ttl / time.Minute)
	return nil
}

// gridFlagsFit refuses flags that belong to the other kind of thing.
func gridFlagsFit(cmd *cobra.Command, subscription bool) error {
	others, what := []string{"endpoint", "event-type", "subject-begins-with", "subject-ends-with", "max-attempts", "ttl", "dead-letter-container"}, "a topic"
	if subscription {
		others, what = []string{"key"}, "an event subscription"
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return cli.Misused(fmt.Errorf("%s has no --%s", what, name))
		}
	}
	return nil
}

// gridSchema is the schema that a word means.
func gridSchema(word string) (eventgrid.Schema, error) {
	schema, ok := eventgrid.SchemaOf(word)
	if !ok {
		return "", cli.Mistaken(fmt.Errorf("--schema %q: want eventgrid or cloudevents", word), word, []string{"eventgrid", "cloudevents"})
	}
	return schema, nil
}

// createdTopic says what was made, and how publishers reach it, as far as that is
// known.
func createdTopic(r *remote.Remote, made *eventgrid.GridTopic) string {
	text := cli.Textf("created topic %q (%s)\n", made.Name, made.InputSchema)
	if c, err := r.Find(); err == nil && c.Dir != "" {
		switch info, err := remote.ReadRun(c.Dir); {
		case err != nil:
		case info.EventGrid == "":
			text += "  endpoint none: start the host with --eventgrid-port to serve publishers\n"
		default:
			text += "  endpoint " + cli.TopicEndpoint(info.EventGrid, made.Name) + "\n"
		}
	}
	return text + "  key      " + made.Key + "\n"
}

func createdSubscription(made *eventgrid.Subscribed, endpoint string) string {
	text := cli.Textf("created event subscription %q to %s\n", made.Topic+"/"+made.Subscription, endpoint)
	if made.AwaitsCode() {
		text += "the web hook did not answer with the validation code: it has five minutes to fetch the validation URL of the request\n"
	}
	return text
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	eventgridops "github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newCreateGrid(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var topic eventgridops.CreateTopic
	var sub eventgridops.Subscribe
	var schema, endpoint string
	var life cli.Span
	cmd := r.Changes(&cobra.Command{
		Use:   "eventgrid TOPIC[/SUBSCRIPTION]",
		Short: "Make a topic of Event Grid, or an event subscription",
		Long: `Create makes a topic in the Event Grid of the running host, or an event
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
eventgrid" removes one.`,
		Example: `  redeliver create eventgrid shop
  redeliver create eventgrid shop/orders --endpoint ProcessOrder --dead-letter-container dead
  redeliver create eventgrid shop/audit --endpoint http://localhost:8080/hook --max-attempts 5`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, subscription, isSubscription := strings.Cut(args[0], "/")
			if name == "" || isSubscription && subscription == "" {
				return cli.Hinted(cli.Misused(fmt.Errorf("%q: want a topic, or a topic and a subscription", args[0])), "for instance shop or shop/orders")
			}
			if err := gridFlagsFit(cmd, isSubscription); err != nil {
				return err
			}
			if !isSubscription {
				var err error
				if topic.InputSchema, err = gridSchema(schema); err != nil {
					return err
				}
				topic.Topic = name
				return remote.Tell(cmd, r, topic, func(made *eventgridops.GridTopic) string { return createdTopic(r, made) })
			}
			if endpoint == "" {
				return cli.Hinted(cli.Misused(errors.New("an event subscription needs --endpoint")), "the name of a function, or the URL of a web hook on this machine")
			}
			if strings.Contains(endpoint, "://") {
				sub.Endpoint = endpoint
			} else {
				sub.Function = endpoint
			}
			var err error
			if sub.EventDeliverySchema, err = gridSchema(schema); err != nil {
				return err
			}
			if ttl := time.Duration(life); ttl%time.Minute != 0 {
				return cli.Misused(errors.New("--ttl: want whole minutes"))
			} else {
				sub.EventTimeToLiveInMinutes = int(ttl / time.Minute)
			}
			sub.Topic, sub.Name = name, subscription
			return remote.Tell(cmd, r, sub, func(made *eventgridops.Subscribed) string { return createdSubscription(made, endpoint) })
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&topic.Key, "key", "", "key that publishers of a new topic send (default: made from the seed)")
	flags.StringVar(&schema, "schema", "", "eventgrid or cloudevents: the schema that a topic takes (default eventgrid), or a subscription delivers (default as its topic)")
	flags.StringVar(&endpoint, "endpoint", "", "function, or URL of a web hook, that gets the events")
	flags.StringSliceVar(&sub.IncludedEventTypes, "event-type", nil, "only events of this type (repeatable)")
	flags.StringVar(&sub.SubjectBeginsWith, "subject-begins-with", "", "only events whose subject begins with this")
	flags.StringVar(&sub.SubjectEndsWith, "subject-ends-with", "", "only events whose subject ends with this")
	flags.IntVar(&sub.MaxDeliveryAttempts, "max-attempts", 0, "attempts for one event, 1 to 30 (default 30)")
	flags.Var(&life, "ttl", "time to live of an event, 1m to 24h (default 24h)")
	flags.StringVar(&sub.DeadLetterContainer, "dead-letter-container", "", "existing container for events that are given up (default: they are dropped)")
	return cmd
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

func gridSchema(word string) (eventgrid.Schema, error) {
	switch {
	case word == "":
		return "", nil
	case word == "eventgrid" || strings.EqualFold(word, string(eventgrid.EventGridSchema)):
		return eventgrid.EventGridSchema, nil
	case word == "cloudevents" || strings.EqualFold(word, string(eventgrid.CloudEventSchema)):
		return eventgrid.CloudEventSchema, nil
	}
	return "", cli.Mistaken(fmt.Errorf("--schema %q: want eventgrid or cloudevents", word), word, []string{"eventgrid", "cloudevents"})
}

// createdTopic says what was made, and how publishers reach it, as far as that is
// known.
func createdTopic(r *remote.Remote, made *eventgridops.GridTopic) string {
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

func createdSubscription(made *eventgridops.Subscribed, endpoint string) string {
	text := cli.Textf("created event subscription %q to %s\n", made.Topic+"/"+made.Subscription, endpoint)
	if made.State == eventgrid.AwaitingManualAction {
		text += "the web hook did not answer with the validation code: it has five minutes to fetch the validation URL of the request\n"
	}
	return text
}

func newSendGrid(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in eventgridops.Publish
	cmd := r.Changes(&cobra.Command{
		Use:   "eventgrid TOPIC [JSON|FILE|-]",
		Short: "Publish events to a topic of Event Grid",
		Long: `Send publishes one event, or an array of events, to a topic of the running host.
FILE holds them as JSON, in the schema that the topic takes; "-" reads them from
the standard input. The JSON itself may stand in the place of FILE. Without FILE
the event is an empty one.

Required fields that are missing are added: an ID, the time of the host's clock,
a subject and a type. --raw publishes the text unchanged, and shows the answer
of the service.`,
		Example: `  redeliver send eventgrid shop '{"eventType":"order.placed","data":{"id":"7"}}'
  redeliver send eventgrid shop events.json`,
		Args: cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.OrFile, func(inv *run.Inventory) (names []string) {
			for _, topic := range inv.EventGrid {
				names = append(names, topic.Name)
			}
			return names
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if in.Body, err = jsonOrFile(std, args[1:]); err != nil {
				return err
			}
			in.Topic = args[0]
			return remote.Tell(cmd, r, in, publishedText)
		},
	})
	cmd.Flags().BoolVar(&in.Raw, "raw", false, "add no fields")
	return cmd
}

func publishedText(sent *eventgridops.Published) string {
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

// gridRows lists the event subscriptions, and topics that have none.
func gridRows(inv *run.Inventory) (rows [][]string) {
	for _, topic := range inv.EventGrid {
		if len(topic.Subscriptions) == 0 {
			rows = append(rows, []string{topic.Name, "-", "-", "-", "-", "-"})
		}
		for i := range topic.Subscriptions {
			s := &topic.Subscriptions[i]
			state := string(s.State)
			if !s.SparedUntil.IsZero() {
				state = "spared until " + gridTime(s.SparedUntil)
			}
			rows = append(rows, []string{topic.Name + "/" + s.Name, s.Function + s.Endpoint, state, gridTime(s.Next), strconv.Itoa(s.Pending), strconv.Itoa(s.DeadLetters)})
		}
	}
	return rows
}

// deliveryRows lists events that are not delivered yet.
func deliveryRows(inv *run.Inventory) (rows [][]string) {
	for i := range inv.Deliveries {
		d := &inv.Deliveries[i]
		next := gridTime(d.Next)
		switch {
		case d.Next.IsZero():
			next = "now"
		case d.Reason != "":
			next = "ends " + next
		}
		rows = append(rows, []string{d.EventID, d.Topic + "/" + d.Subscription, last(d), next, strconv.Itoa(len(d.Attempts))})
	}
	return rows
}

// last is the outcome of the last attempt, or the reason for no further one.
func last(d *eventgrid.DeliveryInfo) string {
	words := slices.DeleteFunc([]string{string(d.Outcome), string(d.Reason)}, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

func gridTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

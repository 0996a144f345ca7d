package verbs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
)

// SendHub sends an event to a hub.
var SendHub = Verb[eventhubs.SendEvent, eventhubs.HubSent]{ // read only
	Use: "eventhub HUB [BODY|-]", Short: "Send an event to a hub of Event Hubs",
	Long: `Send sends one event to a hub of the Event Hubs namespace of the running host.
BODY is the event; "-" reads it from the standard input, and without it the
event is empty.

Events with the same --key come to the same partition, in order; without key and
--partition they come to one partition after the other.`,
	Example: `  redeliver send eventhub orders '{"id":"7","fail":true}' --key customer-7
  redeliver send eventhub orders --partition 0 - < order.json`,
	Names: NamesOf(eventhubs.Service),
	Check: func(in *eventhubs.SendEvent) error {
		if in.Key != nil && *in.Key == "" {
			in.Key = nil
		}
		if in.Key != nil && in.Partition != "" {
			return cli.Misused(errors.New("--key and --partition exclude each other"))
		}
		return nil
	},
	Text: func(_ *eventhubs.SendEvent, sent *eventhubs.HubSent) string {
		return cli.Textf("sent an event to %q%s\n", sent.Hub, sentWhere(sent))
	},
}

// sentWhere says by what an event's partition was picked.
func sentWhere(sent *eventhubs.HubSent) string {
	switch {
	case sent.PartitionKey != nil:
		return cli.Textf(" with key %q", *sent.PartitionKey)
	case sent.PartitionID != "":
		return ", partition " + sent.PartitionID
	}
	return ""
}

// CreateHub makes a hub, or a consumer group of one.
var CreateHub = Verb[eventhubs.CreateHub, eventhubs.HubCreated]{ // read only
	Use: "eventhub HUB[/ConsumerGroups/GROUP]", Short: "Make a hub of Event Hubs, or a consumer group of one",
	Long: `Create makes a hub in the Event Hubs namespace of the running host, or a
consumer group of an existing hub. Settings without a flag have the service's
defaults. Every hub has the consumer group $Default; clients that read for an
unknown group are refused.

Hubs and consumer groups that functions name are made when the app is loaded
(switch autoCreateEntities). For more than a few, describe them in host.json
under redeliver.eventHubs.`,
	Example: `  redeliver create eventhub orders --partitions 2 --consumer-group audit
  redeliver create eventhub clicks --retention 1h
  redeliver create eventhub orders/ConsumerGroups/billing`,
	Instead: createGroup,
	Text: func(_ *eventhubs.CreateHub, made *eventhubs.HubCreated) string {
		return cli.Textf("created event hub %q (%s, retention %s, consumer groups %s)\n",
			made.Name, cli.Plural(made.Partitions, "partition"), cli.SpanText(made.Retention), strings.Join(made.ConsumerGroups, ", "))
	},
}

// createGroup makes a consumer group of a hub that is there.
func createGroup(cmd *cobra.Command, r *remote.Remote, in *eventhubs.CreateHub) (done bool, err error) {
	hub, group, err := hubPath(in.Hub)
	if group == "" || err != nil {
		return false, err
	}
	for _, name := range []string{"partitions", "retention", "consumer-group"} {
		if cmd.Flags().Changed(name) {
			return true, cli.Misused(fmt.Errorf("a consumer group has no --%s", name))
		}
	}
	return true, remote.Tell(cmd, r, eventhubs.CreateGroup{Hub: hub, Group: group}, remote.Text(func(made *eventhubs.GroupCreated) string {
		return cli.Textf("created consumer group %q of event hub %q\n", made.ConsumerGroup, made.Hub)
	}))
}

// hubPath takes apart the name of a hub, or of a consumer group.
func hubPath(text string) (hub, group string, err error) {
	parts := strings.Split(text, "/")
	switch {
	case len(parts) == 1 && text != "":
		return text, "", nil
	case len(parts) == 3 && parts[0] != "" && strings.EqualFold(parts[1], "ConsumerGroups") && parts[2] != "":
		return parts[0], parts[2], nil
	}
	return "", "", cli.Hinted(cli.Misused(fmt.Errorf("%q: want a hub, or a consumer group of one", text)), "for instance orders or orders/ConsumerGroups/audit")
}

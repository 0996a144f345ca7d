package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
)

func newCreateHub(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var hub eventhubs.CreateHub
	var retention cli.IsoSpan
	cmd := r.Changes(&cobra.Command{
		Use:   "eventhub HUB[/ConsumerGroups/GROUP]",
		Short: "Make a hub of Event Hubs, or a consumer group of one",
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
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, group, err := hubPath(args[0])
			if err != nil {
				return err
			}
			if group != "" {
				return createGroup(cmd, r, name, group)
			}
			if cmd.Flags().Changed("partitions") && hub.Partitions < 1 {
				return cli.Misused(errors.New("--partitions: want 1 or more"))
			}
			hub.Hub, hub.Retention = name, string(retention)
			return remote.Tell(cmd, r, hub, func(made *eventhubs.HubCreated) string {
				return cli.Textf("created event hub %q (%s, retention %s, consumer groups %s)\n",
					made.Name, cli.Plural(made.Partitions, "partition"), cli.SpanText(made.Retention), strings.Join(made.ConsumerGroups, ", "))
			})
		},
	})
	flags := cmd.Flags()
	flags.IntVar(&hub.Partitions, "partitions", 0, "number of partitions, 1 to 1024 (default 4)")
	flags.Var(&retention, "retention", "how long events are kept, up to 90 days (default 24h)")
	flags.StringSliceVar(&hub.ConsumerGroups, "consumer-group", nil, "consumer group beside $Default (repeatable)")
	return cmd
}

// createGroup makes a consumer group of a hub that is there.
func createGroup(cmd *cobra.Command, r *remote.Remote, hub, group string) error {
	for _, name := range []string{"partitions", "retention", "consumer-group"} {
		if cmd.Flags().Changed(name) {
			return cli.Misused(fmt.Errorf("a consumer group has no --%s", name))
		}
	}
	return remote.Tell(cmd, r, eventhubs.CreateGroup{Hub: hub, Group: group}, func(made *eventhubs.GroupCreated) string {
		return cli.Textf("created consumer group %q of event hub %q\n", made.ConsumerGroup, made.Hub)
	})
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

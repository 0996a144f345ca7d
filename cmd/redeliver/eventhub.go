package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newSendHub(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var event eventhubs.SendEvent
	var key string
	cmd := r.Changes(&cobra.Command{
		Use:   "eventhub HUB [BODY|-]",
		Short: "Send an event to a hub of Event Hubs",
		Long: `Send sends one event to a hub of the Event Hubs namespace of the running host.
BODY is the event; "-" reads it from the standard input, and without it the
event is empty.

Events with the same --key come to the same partition, in order; without key and
--partition they come to one partition after the other.`,
		Example: `  redeliver send eventhub orders '{"id":"7","fail":true}' --key customer-7
  redeliver send eventhub orders --partition 0 - < order.json`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, hubNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key != "" && event.Partition != "" {
				return cli.Misused(errors.New("--key and --partition exclude each other"))
			}
			if key != "" {
				event.Key = &key
			}
			var err error
			if event.Body, err = remote.Body(std, args[1:]); err != nil {
				return err
			}
			event.Hub = args[0]
			return remote.Tell(cmd, r, event, sentToHub)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&key, "key", "", "partition key")
	flags.StringVar(&event.Partition, "partition", "", "ID of the partition, 0 or more")
	flags.StringVar(&event.ID, "id", "", "message ID of the event")
	flags.StringVar(&event.ContentType, "content-type", "", "content type, e.g. application/json")
	flags.StringArrayVar(&event.Properties, "property", nil, "application property, name=text or name:=5 (repeatable)")
	return cmd
}

func sentToHub(sent *eventhubs.HubSent) string {
	return cli.Textf("sent an event to %q%s\n", sent.Hub, sentWhere(sent))
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

// hubRows lists each partition once for each consumer group.
func hubRows(inv *run.Inventory) (rows [][]string) {
	number := func(n int64) string {
		if n < 0 {
			return "-"
		}
		return strconv.FormatInt(n, 10)
	}
	for i := range inv.EventHubs {
		hub := &inv.EventHubs[i]
		for _, p := range hub.Partitions {
			for _, c := range p.Checkpoints {
				checkpoint := "-"
				switch {
				case c.Error != "":
					checkpoint = "unreadable"
				case c.SequenceNumber != nil:
					checkpoint = number(*c.SequenceNumber)
				}
				rows = append(rows, []string{hub.Name + "/" + p.ID, c.ConsumerGroup, number(p.Events), number(p.LastSequence), checkpoint, number(c.Behind)})
			}
		}
	}
	return rows
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/queues"
)

func newPurge(std cli.Streams) *cobra.Command {
	return cli.Group("purge queue|servicebus|cosmos NAME", "Remove the messages of a queue, or the documents of a container",
		newPurgeQueue(std), newPurgeBus(std), newPurgeCosmos(std))
}

func newPurgeQueue(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "queue NAME",
		Short: "Remove all messages from a storage queue",
		Long: `Purge removes every message from a storage queue of the running host, also
messages in work, messages that wait for their redelivery, and delayed messages.
A function that has one in work ends its attempts, and then finds its message
gone. The queue stays.`,
		Example:           `  redeliver purge queue orders-poison`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteQueues(&r.Target, remote.AnyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := remote.Segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			return remote.Tell(cmd, r, queues.PurgeQueue{Queue: args[0]}, purgedQueue)
		},
	})
}

func purgedQueue(out *queues.QueuePurged) string {
	return cli.Textf("removed %s from queue %q\n", cli.Plural(out.Removed, "message"), out.Queue)
}

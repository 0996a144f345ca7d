package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/web"
)

func newPurge(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "purge queue|servicebus|cosmos NAME",
		Short: "Remove the messages of a queue, or the documents of a container",
		Args:  oneCommand,

		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPurgeQueue(std), newPurgeBus(std), newPurgeCosmos(std))
	return cmd
}

func newPurgeQueue(std streams) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "queue NAME",
		Short: "Remove all messages from a storage queue",
		Long: `Purge removes every message from a storage queue of the running host, also those
that a function has in work (it ends its attempts, and then finds its message
gone), that wait for their redelivery, or that were sent with a delay. The queue
stays.`,
		Example:           `  redeliver purge queue orders-poison`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeQueues(&t, anyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := segment(args[0], bindings.ValidateQueueName)
			if err != nil {
				return err
			}
			c, err := t.find()
			if err != nil {
				return err
			}
			var done web.Purged
			if err := c.call(cmd.Context(), http.MethodDelete, "/queues/"+name+"/messages", nil, nil, &done); err != nil {
				return err
			}
			newConsole(std, true).print(fmt.Sprintf("removed %s from queue %q\n", plural(done.Removed, "message"), args[0]))
			return nil
		},
	}
	addTarget(cmd, &t)
	return cmd
}

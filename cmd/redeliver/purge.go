package main

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/web/control"
)

func newPurge(std streams) *cobra.Command {
	return group("purge queue|servicebus|cosmos NAME", "Remove the messages of a queue, or the documents of a container",
		newPurgeQueue(std), newPurgeBus(std), newPurgeCosmos(std))
}

func newPurgeQueue(std streams) *cobra.Command {
	var t target
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "queue NAME",
		Short: "Remove all messages from a storage queue",
		Long: `Purge removes every message from a storage queue of the running host, also
messages in work, messages that wait for their redelivery, and delayed messages.
A function that has one in work ends its attempts, and then finds its message
gone. The queue stays.`,
		Example:           `  redeliver purge queue orders-poison`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeQueues(&t, anyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			name := url.PathEscape(args[0])
			var out control.QueuePurged
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodDelete, "/queues/"+name+"/messages", nil, nil, &out); done || err != nil {
				return err
			}
			newConsole(std, true).printf("removed %s from queue %q\n", plural(out.Removed, "message"), args[0])
			return nil
		},
	}
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/web/control"
)

func newRedrive(std streams) *cobra.Command {
	return group("redrive queue|servicebus NAME", "Give poison messages and dead letters another chance",
		newRedriveQueue(std), newRedriveBus(std), newRedriveCosmos())
}

func newRedriveQueue(std streams) *cobra.Command {
	var t target
	var to, id string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "queue NAME-poison",
		Short: "Move messages from a poison queue back to its queue",
		Long: `Redrive moves the visible messages of a poison queue back to the queue that they
came from, in their order, or to another one with --to. A message keeps its text
exactly; it gets a new ID, and its dequeue count starts anew. The journal has a
record "forwarded" with both IDs for each message.

Messages that become poison again meanwhile stay, and so do messages in work. A
message is put before its original is deleted: after a crash on the way it is in
both queues, and never lost.`,
		Example: `  redeliver redrive queue orders-poison
  redeliver redrive queue orders-poison --id 09892d75-70f2-4697-82d3-26e0055bdef6
  redeliver redrive queue orders-poison --to orders-v2`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeQueues(&t, poisonName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := control.PoisonOrigin(args[0]); !ok && to == "" {
				return hinted(&usageError{fmt.Errorf("queue %q is not a poison queue: its name does not end in -poison", args[0])}, "name the target with --to")
			}
			if err := segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			name := url.PathEscape(args[0])
			query := url.Values{}
			if to != "" {
				query.Set("to", to)
			}
			if id != "" {
				query.Set("id", id)
			}
			var out control.Redriven
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodPost, "/queues/"+name+"/redrive", query, nil, &out); done || err != nil {
				return err
			}
			showRedriven(newConsole(std, true), &out)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "queue to move to (default: NAME without -poison)")
	cmd.Flags().StringVar(&id, "id", "", "move only the message with this ID, as peek shows it")
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

func showRedriven(out *console, done *control.Redriven) {
	if done.ID != "" {
		out.printf("moved %s to queue %q as %s\n", done.ID, done.To, done.NewID)
		return
	}
	left := ""
	if done.Left > 0 {
		left = fmt.Sprintf(", %d left (in work, delayed or poisoned meanwhile)", done.Left)
	}
	out.printf("moved %s from queue %q to queue %q%s\n", plural(done.Moved, "message"), done.From, done.To, left)
}

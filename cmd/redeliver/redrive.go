package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/web/control"
)

func newRedrive(std streams) *cobra.Command {
	return group("redrive queue|servicebus NAME", "Give poison messages and dead letters another chance",
		newRedriveQueue(std), newRedriveBus(std), newRedriveCosmos())
}

func newRedriveQueue(std streams) *cobra.Command {
	r := &remote{std: std}
	var in control.RedriveQueue
	cmd := r.changes(&cobra.Command{
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
		ValidArgsFunction: completeQueues(&r.target, poisonName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := queue.PoisonOrigin(args[0]); !ok && in.To == "" {
				return hinted(&usageError{fmt.Errorf("queue %q is not a poison queue: its name does not end in -poison", args[0])}, "name the target with --to")
			}
			if err := segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			in.Queue = args[0]
			return tell(cmd, r, in, redrivenText)
		},
	})
	cmd.Flags().StringVar(&in.To, "to", "", "queue to move to (default: NAME without -poison)")
	cmd.Flags().StringVar(&in.ID, "id", "", "move only the message with this ID, as peek shows it")
	return cmd
}

func redrivenText(done *control.Redriven) string {
	if done.ID != "" {
		return textf("moved %s to queue %q as %s\n", done.ID, done.To, done.NewID)
	}
	left := ""
	if done.Left > 0 {
		left = fmt.Sprintf(", %d left (in work, delayed or poisoned meanwhile)", done.Left)
	}
	return textf("moved %s from queue %q to queue %q%s\n", plural(done.Moved, "message"), done.From, done.To, left)
}

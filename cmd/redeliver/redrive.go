package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

func newRedrive(std cli.Streams) *cobra.Command {
	return cli.Group("redrive queue|servicebus|eventgrid NAME", "Give poison messages and dead letters another chance",
		newRedriveQueue(std), newRedriveBus(std), newRedriveGrid(std), newRedriveCosmos())
}

func newRedriveQueue(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in queues.RedriveQueue
	cmd := r.Destroys(&cobra.Command{
		Use:   "queue NAME-poison",
		Short: "Move messages from a poison queue back to its queue",
		Long: `Redrive moves the visible messages of a poison queue back to the queue that they
came from, in their order, or to another one with --to. A message keeps its text
exactly; it gets a new ID, and its dequeue count starts anew. The journal has a
record "forwarded" with both IDs for each message.

Poison messages of blobs, in webjobs-blobtrigger-poison, go back to the queue of
the host's blob trigger, which runs the function again. One whose function or
blob is gone, or whose blob has changed since, stays.

Messages that become poison again meanwhile stay, and so do messages in work. A
message is put before its original is deleted: after a crash on the way it is in
both queues, and never lost.`,
		Example: `  redeliver redrive queue orders-poison
  redeliver redrive queue orders-poison --id 09892d75-70f2-4697-82d3-26e0055bdef6
  redeliver redrive queue orders-poison --to orders-v2
  redeliver redrive queue webjobs-blobtrigger-poison`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteQueues(&r.Target, remote.PoisonName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := queue.PoisonOrigin(args[0]); !ok && in.To == "" {
				return cli.Hinted(cli.Misused(fmt.Errorf("queue %q is not a poison queue: its name does not end in -poison", args[0])), "name the target with --to")
			}
			if err := remote.Segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			in.Queue = args[0]
			return remote.Tell(cmd, r, in, redrivenText)
		},
	})
	cmd.Flags().StringVar(&in.To, "to", "", "queue to move to (default: where NAME came from)")
	cmd.Flags().StringVar(&in.ID, "id", "", "move only the message with this ID, as peek shows it")
	return cmd
}

func redrivenText(done *ops.Redriven) string {
	if done.ID != "" {
		return cli.Textf("moved %s to queue %q as %s\n", done.ID, done.To, done.NewID)
	}
	left := ""
	if done.Left > 0 {
		why := "in work, delayed or poisoned meanwhile"
		if done.From == blobtrigger.PoisonQueue {
			why += ", or without its blob"
		}
		left = fmt.Sprintf(", %d left (%s)", done.Left, why)
	}
	return cli.Textf("moved %s from queue %q to queue %q%s\n", cli.Plural(done.Moved, "message"), done.From, done.To, left)
}

func newRedriveGrid(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	in := messages.RedriveMessages{MessageName: ops.MessageName{Service: "eventgrid"}}
	cmd := r.Destroys(&cobra.Command{
		Use:   "eventgrid TOPIC/SUBSCRIPTION",
		Short: "Give dead-lettered events back to their subscription",
		Long: `Redrive gives the events that a subscription has dead-lettered back to it, the
oldest first; with --event only those of one event. No other subscription of the
topic gets them. Each is tried as a new event, with all its attempts, and its
blob is deleted. The journal has a record "forwarded" with the cause "redrive"
for each.

An event is kept by its subscription before its blob is deleted: after a crash
on the way it is in both places, and never lost.`,
		Example: `  redeliver redrive eventgrid shop/orders
  redeliver redrive eventgrid shop/orders --event 1807`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, subscriptionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Entity = args[0]
			if topic, subscription, _ := strings.Cut(args[0], "/"); topic == "" || subscription == "" {
				return cli.Hinted(cli.Misused(fmt.Errorf("%q: want a topic and a subscription", args[0])), "for instance shop/orders")
			}
			return remote.Tell(cmd, r, in, redrivenGrid)
		},
	})
	cmd.Flags().StringVar(&in.ID, "event", "", "only the dead letters of the event with this ID")
	return cmd
}

func redrivenGrid(done *ops.Redriven) string {
	return cli.Textf("gave %s back to event subscription %q\n", cli.Plural(done.Moved, "event"), done.To)
}

// subscriptionNames are the event subscriptions that have a place for dead letters.
func subscriptionNames(inv *run.Inventory) (names []string) {
	for _, topic := range inv.EventGrid {
		for i := range topic.Subscriptions {
			if s := &topic.Subscriptions[i]; s.DeadLetterContainer != "" {
				names = append(names, topic.Name+"/"+s.Name)
			}
		}
	}
	return names
}

package main

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

func newPurgeBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "Remove all messages from a Service Bus entity",
		Long: `Purge removes every message from a queue, a subscription or a dead-letter queue
of the running host, also locked, deferred and scheduled messages. A function
that has one in work ends its attempts, and then finds that its lock is lost.
The entity stays, and so does its dead-letter queue; name that queue to purge
it.`,
		Example: `  redeliver purge servicebus orders
  redeliver purge servicebus 'orders/$DeadLetterQueue'`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeBus(&r.Target, withMessages),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			return remote.Tell(cmd, r, servicebus.PurgeEntity{Path: path}, purgedBus)
		},
	})
}

func purgedBus(out *ops.Purged) string {
	return cli.Textf("removed %s from %q\n", cli.Plural(out.Removed, "message"), out.Path)
}

func newRedriveBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var numbers []int64
	cmd := r.Destroys(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "Move messages from a dead-letter queue back to its entity",
		Long: `Redrive moves the messages of an entity's dead-letter queue back to the entity,
in their order; with --sequence only some of them. ENTITY is the queue or
subscription, or the path of its dead-letter queue. The transfer dead-letter
queue has to be named.

A message keeps its ID, its body and its properties, except the two with the
reason of the dead-lettering. It gets a new sequence number, and its delivery
count starts anew. Locked messages stay. The journal has a record "forwarded"
with the cause "redrive" for each message. All move in one step, or none does.`,
		Example: `  redeliver redrive servicebus orders
  redeliver redrive servicebus orders --sequence 3 --sequence 4
  redeliver redrive servicebus 'orders/$Transfer/$DeadLetterQueue'`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeBus(&r.Target, withDeadLetters),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			return remote.Tell(cmd, r, servicebus.RedriveEntity{Path: path, Sequence: numbers}, func(out *ops.Redriven) string { return redrivenBus(out, len(numbers) == 0) })
		},
	})
	addSequence(cmd, &numbers, "move only the message with this sequence `number`, as peek shows it (repeatable)")
	return cmd
}

// redrivenBus says what was moved; all was asked for when all is set.
func redrivenBus(out *ops.Redriven, all bool) string {
	left := ""
	if out.Left > 0 {
		left = fmt.Sprintf(", %d left", out.Left)
		if all {
			left += " (locked, or dead-lettered again)"
		}
	}
	return cli.Textf("moved %s from %q to %q%s\n", cli.Plural(out.Moved, "message"), out.From, out.To, left)
}

func newExpireLock(std cli.Streams) *cobra.Command {
	return cli.Group("expire-lock servicebus ENTITY", "End locks of Service Bus messages now",
		newExpireLockBus(std))
}

func newExpireLockBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in servicebus.ExpireLocks
	cmd := r.Changes(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "End the locks of an entity's messages now",
		Long: `Expire-lock ends locks as if their time were over: all locks of a queue,
subscription or dead-letter queue, session locks included, or only the locks
that --sequence or --session names. Each counts as a failed delivery. The
message is delivered again or, at the entity's maximum, dead-lettered. The
receiver that had it in work finds that the lock is lost. So one can try out a
handler that is too slow.`,
		Example: `  redeliver expire-lock servicebus orders
  redeliver expire-lock servicebus orders --sequence 3
  redeliver expire-lock servicebus carts --session customer-7`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeBus(&r.Target, withMessages),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			if in.Session != nil && len(in.Sequence) > 0 {
				return cli.Misused(errors.New("--session and --sequence exclude each other"))
			}
			in.Path = path
			return remote.Tell(cmd, r, in, expiredText)
		},
	})
	addSequence(cmd, &in.Sequence, "end only the lock of the message with this sequence `number` (repeatable)")
	cmd.Flags().Var(cli.Maybe{Text: &in.Session}, "session", "end only the lock of this session")
	return cmd
}

func expiredText(out *servicebus.LocksExpired) string {
	return cli.Textf("ended the locks of %s of %q\n", cli.Plural(out.Expired, "message"), out.Path)
}

// addSequence adds --sequence.
func addSequence(cmd *cobra.Command, numbers *[]int64, usage string) {
	cmd.Flags().Int64SliceVar(numbers, "sequence", nil, usage)
	cmd.Flags().Lookup("sequence").DefValue = "" // the library would print []
}

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// The paths of an entity that a command can be about.

func sendable(e *servicebus.BusEntity) []string {
	if e.Kind == setting.Subscription {
		return nil
	}
	return []string{e.Path}
}

func withMessages(e *servicebus.BusEntity) []string {
	return append([]string{e.Path}, withDeadLetters(e)...)
}

func withDeadLetters(e *servicebus.BusEntity) (paths []string) {
	if e.DeadLetter > 0 {
		paths = append(paths, e.Path+"/$DeadLetterQueue")
	}
	if e.TransferDeadLetter > 0 {
		paths = append(paths, e.Path+"/$Transfer/$DeadLetterQueue")
	}
	return paths
}

// completeBus completes the first argument with paths of the running host's
// entities.
func completeBus(t *remote.Target, paths func(e *servicebus.BusEntity) []string) remote.Completion {
	return remote.CompleteFirst(t, remote.NoMore, func(inv *run.Inventory) []string { return busNames(inv, paths) })
}

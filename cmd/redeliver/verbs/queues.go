package verbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/timespan"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// SendQueue puts a message on a storage queue.
var SendQueue = Verb[queues.SendMessage, queues.Message]{ // read only
	Use: "queue NAME [BODY|-]", Short: "Put a message on a storage queue",
	Long: `Send puts one message on a storage queue of the running host, and makes the
queue when it does not exist. BODY is the message; "-" reads it from the
standard input, and without it the message is empty. It is encoded as the app
expects it (host.json, extensions.queues.messageEncoding), base64 unless set
otherwise; --raw puts the text on the queue as it is.`,
	Example: `  redeliver send queue orders '{"id":"7","fail":true}'
  redeliver send queue orders --delay 30s --ttl 10m - < order.json`,
	Names: NamesOf(queues.Service), Text: sentToQueue,
	Check: func(in *queues.SendMessage) error {
		if err := life(&in.TTL); err != nil {
			return err
		}
		return remote.Segment(in.Queue, queue.ValidateName)
	},
}

func sentToQueue(in *queues.SendMessage, m *queues.Message) string {
	return cli.Textf("sent %s to queue %q\n", m.ID, in.Queue)
}

// life checks a time to live, and writes it as the host takes it. The service knows the upper
// limit.
func life(ttl *string) error {
	if *ttl == "" || *ttl == "never" {
		return nil
	}
	d, err := timespan.Parse(*ttl)
	if err != nil || d < time.Second {
		return cli.Misused(fmt.Errorf("--ttl %q: want never or a duration of 1s or more, %s", *ttl, timespan.Forms))
	}
	*ttl = d.String()
	return nil
}

// PeekQueue shows messages of a storage queue.
var PeekQueue = Verb[queues.PeekQueue, queues.Peeked]{ // read only
	Use: "queue NAME", Short: "Show the visible messages of a storage queue, and change nothing",
	Long: `Peek shows the visible messages of a storage queue of the running host, oldest
first, each with its dequeue count and decoded body, and in a poison queue with
the error that brought it there. Messages in work, messages that wait for their
redelivery, and delayed messages are counted and not shown. --id shows a message
in any state.`,
	Example: `  redeliver peek queue orders-poison
  redeliver peek queue orders --id 09892d75-70f2-4697-82d3-26e0055bdef6`,
	Names: NamesOf(queues.Service), Text: peekedQueue,
	Check: func(in *queues.PeekQueue) error { return remote.Segment(in.Queue, queue.ValidateName) },
}

func peekedQueue(in *queues.PeekQueue, found *queues.Peeked) string {
	var b strings.Builder
	hidden := found.Count - len(found.Messages)
	cli.Writef(&b, "queue %q: %s", found.Queue, cli.Plural(found.Count, "message"))
	if hidden > 0 && in.ID == "" {
		cli.Writef(&b, ", %d not shown (in work, waiting or beyond --max)", hidden)
	}
	b.WriteByte('\n')
	for _, m := range found.Messages {
		cli.Writef(&b, "%s  dequeue count %d  inserted %s", m.ID, m.DequeueCount, m.Inserted.Local().Format(time.DateTime))
		if !m.NextVisible.IsZero() {
			cli.Writef(&b, "  invisible until %s", m.NextVisible.Local().Format(time.DateTime))
		}
		b.WriteByte('\n')
		switch {
		case m.Undecodable != "":
			cli.Writef(&b, "  %s\n  (%s)\n", m.Text, m.Undecodable)
		case m.Body != nil:
			cli.Writef(&b, "  %s\n", cli.Block(*m.Body, "  "))
		default:
			cli.Writef(&b, "  %d bytes that are not text, as base64: %s\n", len(m.Binary), m.Text)
		}
		if m.LastError != "" {
			cli.Writef(&b, "  last error: %s\n", cli.Block(m.LastError, "  "))
		}
	}
	return b.String()
}

// PurgeQueue removes the messages of a storage queue.
var PurgeQueue = Verb[queues.PurgeQueue, queues.QueuePurged]{ // read only
	Use: "queue NAME", Short: "Remove all messages from a storage queue",
	Long: `Purge removes every message from a storage queue of the running host, also
messages in work, messages that wait for their redelivery, and delayed messages.
A function that has one in work ends its attempts, and then finds its message
gone. The queue stays.`,
	Example: `  redeliver purge queue orders-poison`,
	Names:   NamesOf(queues.Service),
	Check:   func(in *queues.PurgeQueue) error { return remote.Segment(in.Queue, queue.ValidateName) },
	Text: func(_ *queues.PurgeQueue, out *queues.QueuePurged) string {
		return cli.Textf("removed %s from queue %q\n", cli.Plural(out.Removed, "message"), out.Queue)
	},
}

// RedriveQueue moves messages from a poison queue.
var RedriveQueue = Verb[queues.RedriveQueue, ops.Redriven]{ // read only
	Use: "queue NAME-poison", Short: "Move messages from a poison queue back to its queue",
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
	Names: poisonQueues, Text: redrivenQueue,
	Check: func(in *queues.RedriveQueue) error {
		if _, ok := queue.PoisonOrigin(in.Queue); !ok && in.To == "" {
			return cli.Hinted(cli.Misused(fmt.Errorf("queue %q is not a poison queue: its name does not end in -poison", in.Queue)), "name the target with --to")
		}
		return remote.Segment(in.Queue, queue.ValidateName)
	},
}

func redrivenQueue(_ *queues.RedriveQueue, done *ops.Redriven) string {
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

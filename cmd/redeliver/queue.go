package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newSend(std cli.Streams) *cobra.Command {
	return cli.Group("send queue|servicebus|eventgrid|eventhub|cosmos NAME [BODY|-]", "Send a message to a queue or topic of the running host",
		newSendQueue(std), newSendBus(std), newSendGrid(std), newSendHub(std), newSendCosmos(std))
}

func newSendQueue(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in queues.SendMessage
	var delay string
	cmd := r.Changes(&cobra.Command{
		Use:   "queue NAME [BODY|-]",
		Short: "Put a message on a storage queue",
		Long: `Send puts one message on a storage queue of the running host, and makes the
queue when it does not exist. BODY is the message; "-" reads it from the
standard input, and without it the message is empty. It is encoded as the app
expects it (host.json, extensions.queues.messageEncoding), base64 unless set
otherwise; --raw puts the text on the queue as it is.`,
		Example: `  redeliver send queue orders '{"id":"7","fail":true}'
  redeliver send queue orders --delay 30s --ttl 10m - < order.json`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteQueues(&r.Target, remote.AnyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if in.Delay, in.TTL, err = lifeOf(delay, in.TTL); err != nil {
				return err
			}
			if in.Body, err = remote.Body(std, args[1:]); err != nil {
				return err
			}
			if err := remote.Segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			in.Queue = args[0]
			return remote.Tell(cmd, r, in, func(m *queues.Message) string { return sentToQueue(&in, m) })
		},
	})
	cmd.Flags().BoolVar(&in.Raw, "raw", false, "do not encode the body")
	cmd.Flags().StringVar(&delay, "delay", "", "keep the message invisible for this long first, e.g. 30s")
	cmd.Flags().BoolVar(&in.Create, "create", false, "make the queue though its name is near to another one")
	cmd.Flags().StringVar(&in.TTL, "ttl", "", "let the message expire after this long, e.g. 10m, or never (default 168h)")
	return cmd
}

func sentToQueue(in *queues.SendMessage, m *queues.Message) string {
	return cli.Textf("sent %s to queue %q\n", m.ID, in.Queue)
}

// lifeOf are a delay and a time to live, which may be empty, as the host takes them.
// Impossible values are refused; the service knows the upper limits.
func lifeOf(delay, ttl string) (time.Duration, string, error) {
	var wait time.Duration
	if delay != "" {
		var err error
		if wait, err = cli.ParseSpan(delay); err != nil || wait < 0 {
			return 0, "", cli.Misused(fmt.Errorf("--delay %q: want a duration of 0 or more, %s", delay, cli.SpanForms))
		}
	}
	if ttl == "" || ttl == "never" {
		return wait, ttl, nil
	}
	d, err := cli.ParseSpan(ttl)
	if err != nil || d < time.Second {
		return 0, "", cli.Misused(fmt.Errorf("--ttl %q: want never or a duration of 1s or more, %s", ttl, cli.SpanForms))
	}
	return wait, d.String(), nil
}

func newPeek(std cli.Streams) *cobra.Command {
	return cli.Group("peek queue|servicebus|cosmos|output NAME", "Show the messages, documents or outputs that the running host holds",
		newPeekQueue(std), newPeekBus(std), newPeekCosmos(std), newPeekOutput(std))
}

func newPeekQueue(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in queues.PeekQueue
	cmd := r.Shows(&cobra.Command{
		Use:   "queue NAME",
		Short: "Show the visible messages of a storage queue, and change nothing",
		Long: `Peek shows the visible messages of a storage queue of the running host, oldest
first, each with its dequeue count and decoded body, and in a poison queue with
the error that brought it there. Messages in work, messages that wait for their
redelivery, and delayed messages are counted and not shown. --id shows a message
in any state.`,
		Example: `  redeliver peek queue orders-poison
  redeliver peek queue orders --id 09892d75-70f2-4697-82d3-26e0055bdef6`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteQueues(&r.Target, remote.AnyName),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Max < 1 && cmd.Flags().Changed("max") {
				return cli.Misused(errors.New("--max: want a number of 1 or more"))
			}
			if err := remote.Segment(args[0], queue.ValidateName); err != nil {
				return err
			}
			in.Queue = args[0]
			return remote.Tell(cmd, r, in, func(found *queues.Peeked) string { return peekedQueue(found, in.ID != "") })
		},
	})
	cmd.Flags().IntVar(&in.Max, "max", 0, "show at most this many messages (default all)")
	cmd.Flags().StringVar(&in.ID, "id", "", "show only the message with this ID, visible or not")
	return cmd
}

// peekedQueue shows messages; only one was asked for when only is set.
func peekedQueue(found *queues.Peeked, only bool) string {
	var b strings.Builder
	hidden := found.Count - len(found.Messages)
	cli.Writef(&b, "queue %q: %s", found.Queue, cli.Plural(found.Count, "message"))
	if hidden > 0 && !only {
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

func newInvoke(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "invoke FUNCTION [BODY|-]",
		Short: "Run a function of the running host by hand",
		Long: `Invoke runs a function once, as the admin API does, and waits for the result.
BODY takes the place of the trigger's data (a queue message's text, a request's
body; a timer ignores it); "-" reads it from the standard input. The retry
policy applies. No queue counts a delivery, and no message becomes poison.
Disabled functions run too. In a run of several apps FUNCTION may be
app/function, and has to be where two have one of that name.

The answer of an HTTP function goes to the standard output. The exit code is 1
when the last attempt failed.`,
		Example: `  redeliver invoke ProcessOrder '{"id":"7"}'`,
		Args:    cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, func(inv *run.Inventory) (names []string) {
			for _, f := range inv.Functions {
				names = append(names, f.Name)
			}
			return names
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := remote.Body(std, args[1:])
			if err != nil {
				return err
			}
			for part := range strings.SplitSeq(args[0], "/") { // "app/function"
				if err := remote.Segment(part, func(string) error { return functionName(args[0]) }); err != nil {
					return err
				}
			}
			c, err := r.Find()
			if err != nil {
				return err
			}
			res, err := remote.Call(cmd.Context(), c, run.Invoke{Name: args[0], Input: in})
			if err != nil {
				return err
			}
			if r.AsJSON {
				if err := cli.WriteIndented(std, res); err != nil || res.Succeeded {
					return err
				}
				return cli.ExitCode(cli.ExitFailure)
			}
			return showResult(cli.NewConsole(std, true), args[0], &res)
		},
	})
}

// functionName checks the name of a function.
func functionName(name string) error {
	return fmt.Errorf("function %q: want a letter, then letters, digits, _ and -; 128 characters in all", name)
}

func showResult(out *cli.Console, function string, res *run.InvokeResult) error {
	if !res.Succeeded {
		return fmt.Errorf("%s failed after %s: %s", function, cli.Plural(res.Attempts, "attempt"), explain.InWords(res.Error))
	}
	if r := res.Response; r != nil {
		out.Data(r.Body)
		if n := len(r.Body); n > 0 && r.Body[n-1] != '\n' {
			out.Print("\n")
		}
		out.Say("info", fmt.Sprintf("%s answered %d after %s", function, r.StatusCode, cli.Plural(res.Attempts, "attempt")))
		return nil
	}
	out.Printf("%s succeeded after %s\n", function, cli.Plural(res.Attempts, "attempt"))
	return nil
}

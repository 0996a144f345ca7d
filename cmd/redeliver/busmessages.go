package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

func newSendBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in servicebus.SendBusMessage
	var delay, ttl cli.Span
	cmd := r.Changes(&cobra.Command{
		Use:   "servicebus ENTITY [BODY|-]",
		Short: "Send a message to a queue or topic of Service Bus",
		Long: `Send sends one message to a queue or a topic of the Service Bus namespace of the
running host. BODY is the message; "-" reads it from the standard input, and
without it the message is empty. An ID is made when none is given.

With --delay or --at the message is scheduled: it gets a sequence number at
once, and another one when its time has come. Times are times of the host's
clock.

A property is text, or with := a number, true, false or null, which matters to
filters.`,
		Example: `  redeliver send servicebus orders '{"id":"7","fail":true}'
  redeliver send servicebus events --subject order.placed --property region=eu --property amount:=1200
  redeliver send servicebus orders --delay 30s --ttl 10m - < order.json`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: completeBus(&r.Target, sendable),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			if delay != 0 && in.At != "" {
				return cli.Misused(errors.New("--delay and --at exclude each other"))
			}
			if in.At != "" {
				if _, err := time.Parse(time.RFC3339, in.At); err != nil {
					return cli.Misused(fmt.Errorf("--at %q: want a time such as 2030-01-31T15:04:05Z", in.At))
				}
			}
			in.Path, in.Delay, in.TTL = path, time.Duration(delay), time.Duration(ttl)
			if in.Body, err = remote.Body(std, args[1:]); err != nil {
				return err
			}
			return remote.Tell(cmd, r, in, sentText)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&in.MessageID, "id", "", "ID of the message")
	flags.Var(cli.Maybe{Text: &in.SessionID}, "session", "session that the message belongs to") // an empty one is a session
	flags.StringVar(&in.Subject, "subject", "", "subject, also called label")
	flags.StringVar(&in.ContentType, "content-type", "", "content type, e.g. application/json")
	flags.StringVar(&in.CorrelationID, "correlation-id", "", "correlation ID")
	flags.StringVar(&in.To, "to", "", "address of your own")
	flags.StringVar(&in.ReplyTo, "reply-to", "", "address for answers")
	flags.Var(cli.Maybe{Text: &in.PartitionKey}, "partition-key", "partition key")
	flags.StringArrayVar(&in.Properties, "property", nil, "application property, name=text or name:=5 (repeatable)")
	flags.Var(&delay, "delay", "schedule the message for this long from now, e.g. 30s")
	flags.StringVar(&in.At, "at", "", "schedule it for that time, e.g. 2030-01-31T15:04:05Z")
	flags.Var(&ttl, "ttl", "let the message expire after this long, e.g. 10m (default: the entity's)")
	return cmd
}

func sentText(sent *servicebus.BusSent) string {
	if sent.ScheduledFor.IsZero() {
		return cli.Textf("sent %s to %q\n", sent.MessageID, sent.Path)
	}
	return cli.Textf("scheduled %s for %s at %q (sequence number %d)\n", sent.MessageID, sent.ScheduledFor.Local().Format(time.DateTime), sent.Path, sent.SequenceNumber)
}

func newPeekBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in servicebus.PeekEntity
	cmd := r.Shows(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "Show the messages of a Service Bus entity, and change nothing",
		Long: `Peek shows the messages of a queue, of a subscription, or of the dead-letter
queue of one, in the order of their sequence numbers: active, locked, deferred
and scheduled ones, each with the deliveries that have failed so far, its
properties and its body. Of a dead letter it shows the reason. A topic shows the
messages that it has scheduled.

The transfer dead-letter queue of orders is 'orders/$Transfer/$DeadLetterQueue'.
Put paths with $ in quotes.`,
		Example: `  redeliver peek servicebus orders
  redeliver peek servicebus 'orders/$DeadLetterQueue'
  redeliver peek servicebus events/Subscriptions/all --from 100 --max 10`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeBus(&r.Target, withMessages),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Max < 1 && cmd.Flags().Changed("max") {
				return cli.Misused(errors.New("--max: want a number of 1 or more"))
			}
			if in.From < 0 {
				return cli.Misused(errors.New("--from: want a sequence number"))
			}
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			in.Path = path
			return remote.Tell(cmd, r, in, func(found *servicebus.BusPeeked) string { return peekedText(found, in.From == 0 && in.Session == nil) })
		},
	})
	flags := cmd.Flags()
	flags.IntVar(&in.Max, "max", 0, "show at most this many messages (default all)")
	flags.Int64Var(&in.From, "from", 0, "show messages from this sequence number on")
	flags.Var(cli.Maybe{Text: &in.Session}, "session", "show only the messages of this session")
	return cmd
}

// peekedText shows messages below a line that counts them. All were asked for when
// all is set.
func peekedText(found *servicebus.BusPeeked, all bool) string {
	var b strings.Builder
	cli.Writef(&b, "%s: %s\n", found.Path, busCount(found, all))
	for i := range found.Messages {
		writeBusMessage(&b, &found.Messages[i])
	}
	return b.String()
}

// busCount says how many messages there are and in which states.
func busCount(found *servicebus.BusPeeked, all bool) string {
	text := cli.Plural(int(found.Count), "message")
	e := &found.Entity
	if found.Path == e.Path {
		var states []string
		for _, s := range []struct {
			n    int64
			word string
		}{{e.Locked, "locked"}, {e.Deferred, "deferred"}, {e.Scheduled, "scheduled"}} {
			if s.n > 0 {
				states = append(states, cli.Textf("%d %s", s.n, s.word))
			}
		}
		if len(states) > 0 {
			text += " (" + strings.Join(states, ", ") + ")"
		}
		if e.DeadLetter > 0 {
			text += cli.Textf(", and %d in its dead-letter queue", e.DeadLetter)
		}
		if e.TransferDeadLetter > 0 {
			text += cli.Textf(", and %d in its transfer dead-letter queue", e.TransferDeadLetter)
		}
	}
	if hidden := int(found.Count) - len(found.Messages); all && hidden > 0 {
		text += cli.Textf("; the first %d are shown", len(found.Messages))
	}
	return text
}

// writeBusMessage writes one message: a line of facts, the reason of a dead letter,
// the properties, the body.
func writeBusMessage(b *strings.Builder, m *servicebus.BusMessage) {
	facts := []string{cli.Textf("%d", m.SequenceNumber), m.MessageID, m.State, cli.Plural(int(m.FailedDeliveries), "failed delivery")}
	facts = append(facts, "enqueued "+m.Enqueued.Local().Format(time.DateTime))
	for _, moment := range []struct {
		word string
		at   time.Time
	}{{"scheduled for", m.ScheduledFor}, {"locked until", m.LockedUntil}, {"expires", m.Expires}} {
		if !moment.at.IsZero() && moment.at.Year() < 9999 {
			facts = append(facts, moment.word+" "+moment.at.Local().Format(time.DateTime))
		}
	}
	cli.Writef(b, "%s\n", strings.Join(facts, "  "))
	if m.DeadLetterReason != "" || m.DeadLetterDescription != "" {
		cli.Writef(b, "  %s\n", strings.Trim(m.DeadLetterReason+": "+m.DeadLetterDescription, ": "))
	}
	if m.SessionID != nil {
		cli.Writef(b, "  session %q\n", *m.SessionID)
	}
	for _, field := range [][2]string{
		{"dead-lettered in", m.DeadLetterSource}, {"subject", m.Subject}, {"content type", m.ContentType}, {"correlation ID", m.CorrelationID}, {"to", m.To}, {"reply to", m.ReplyTo},
	} {
		if field[1] != "" {
			cli.Writef(b, "  %s %s\n", field[0], field[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Properties)) {
		cli.Writef(b, "  %s=%s\n", name, propertyText(m.Properties[name]))
	}
	switch {
	case m.Body == nil:
		cli.Writef(b, "  %s that are not text, as base64: %s\n", cli.Plural(len(m.Binary), "byte"), base64Text(m.Binary))
	case *m.Body != "":
		cli.Writef(b, "  %s\n", cli.Block(*m.Body, "  "))
	}
}

// propertyText is a property as "send" takes it, without the colon.
func propertyText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, _ := json.Marshal(v) // it was JSON
	return string(text)
}

package verbs

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// PeekBus shows messages of an entity.
var PeekBus = Verb[servicebus.PeekEntity, servicebus.BusPeeked]{ // read only
	Use: "servicebus ENTITY", Short: "Show the messages of a Service Bus entity, and change nothing",
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
	Names: NamesOf(servicebus.Service), Text: peekedBus,
	Check: func(in *servicebus.PeekEntity) (err error) { in.Path, err = busPath(in.Path); return err },
}

// peekedBus shows messages below a line that counts them.
func peekedBus(in *servicebus.PeekEntity, found *servicebus.BusPeeked) string {
	var b strings.Builder
	cli.Writef(&b, "%s: %s\n", found.Path, busCount(found, in.From == 0 && in.Session == nil))
	for i := range found.Messages {
		writeBusMessage(&b, &found.Messages[i])
	}
	return b.String()
}

// busCount says how many messages there are and in which states. All were asked for
// when all is set.
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
		cli.Writef(b, "  %s that are not text, as base64: %s\n", cli.Plural(len(m.Binary), "byte"), base64.StdEncoding.EncodeToString(m.Binary))
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

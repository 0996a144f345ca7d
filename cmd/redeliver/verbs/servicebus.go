package verbs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	busapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// SendBus sends a message to Service Bus.
var SendBus = Verb[servicebus.SendBusMessage, servicebus.BusSent]{ // read only
	Use: "servicebus ENTITY [BODY|-]", Short: "Send a message to a queue or topic of Service Bus",
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
	Names: busNames(sendable), Text: sentToBus,
	Check: func(in *servicebus.SendBusMessage) (err error) {
		if in.Path, err = busPath(in.Path); err != nil {
			return err
		}
		if in.Delay != 0 && in.At != "" {
			return cli.Misused(errors.New("--delay and --at exclude each other"))
		}
		if in.At != "" {
			if _, err := time.Parse(time.RFC3339, in.At); err != nil {
				return cli.Misused(fmt.Errorf("--at %q: want a time such as 2030-01-31T15:04:05Z", in.At))
			}
		}
		return nil
	},
}

func sentToBus(_ *servicebus.SendBusMessage, sent *servicebus.BusSent) string {
	if sent.ScheduledFor.IsZero() {
		return cli.Textf("sent %s to %q\n", sent.MessageID, sent.Path)
	}
	return cli.Textf("scheduled %s for %s at %q (sequence number %d)\n", sent.MessageID, sent.ScheduledFor.Local().Format(time.DateTime), sent.Path, sent.SequenceNumber)
}

// PurgeBus removes the messages of an entity.
var PurgeBus = Verb[servicebus.PurgeEntity, ops.Purged]{ // read only
	Use: "servicebus ENTITY", Short: "Remove all messages from a Service Bus entity",
	Long: `Purge removes every message from a queue, a subscription or a dead-letter queue
of the running host, also locked, deferred and scheduled messages. A function
that has one in work ends its attempts, and then finds that its lock is lost.
The entity stays, and so does its dead-letter queue; name that queue to purge
it.`,
	Example: `  redeliver purge servicebus orders
  redeliver purge servicebus 'orders/$DeadLetterQueue'`,
	Names: NamesOf(servicebus.Service),
	Check: func(in *servicebus.PurgeEntity) (err error) { in.Path, err = busPath(in.Path); return err },
	Text: func(_ *servicebus.PurgeEntity, out *ops.Purged) string {
		return cli.Textf("removed %s from %q\n", cli.Plural(out.Removed, "message"), out.Path)
	},
}

// RedriveBus moves dead letters back to their entity.
var RedriveBus = Verb[servicebus.RedriveEntity, ops.Redriven]{ // read only
	Use: "servicebus ENTITY", Short: "Move messages from a dead-letter queue back to its entity",
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
	Names: busNames((*servicebus.BusEntity).DeadLetterQueues), Text: redrivenBus,
	Check: func(in *servicebus.RedriveEntity) (err error) { in.Path, err = busPath(in.Path); return err },
}

func redrivenBus(in *servicebus.RedriveEntity, out *ops.Redriven) string {
	left := ""
	if out.Left > 0 {
		left = fmt.Sprintf(", %d left", out.Left)
		if len(in.Sequence) == 0 {
			left += " (locked, or dead-lettered again)"
		}
	}
	return cli.Textf("moved %s from %q to %q%s\n", cli.Plural(out.Moved, "message"), out.From, out.To, left)
}

// ExpireLockBus ends locks of messages.
var ExpireLockBus = Verb[servicebus.ExpireLocks, servicebus.LocksExpired]{ // read only
	Use: "servicebus ENTITY", Short: "End the locks of an entity's messages now",
	Long: `Expire-lock ends locks as if their time were over: all locks of a queue,
subscription or dead-letter queue, session locks included, or only the locks
that --sequence or --session names. Each counts as a failed delivery. The
message is delivered again or, at the entity's maximum, dead-lettered. The
receiver that had it in work finds that the lock is lost. So one can try out a
handler that is too slow.`,
	Example: `  redeliver expire-lock servicebus orders
  redeliver expire-lock servicebus orders --sequence 3
  redeliver expire-lock servicebus carts --session customer-7`,
	Names: NamesOf(servicebus.Service),
	Check: func(in *servicebus.ExpireLocks) (err error) {
		if in.Path, err = busPath(in.Path); err == nil && in.Session != nil && len(in.Sequence) > 0 {
			err = cli.Misused(errors.New("--session and --sequence exclude each other"))
		}
		return err
	},
	Text: func(_ *servicebus.ExpireLocks, out *servicebus.LocksExpired) string {
		return cli.Textf("ended the locks of %s of %q\n", cli.Plural(out.Expired, "message"), out.Path)
	},
}

// CreateBus makes an entity.
var CreateBus = Verb[servicebus.CreateEntity, servicebus.BusEntity]{ // read only
	Use: "servicebus ENTITY", Short: "Make a queue, topic or subscription",
	Long: `Create makes an entity in the Service Bus namespace of the running host: a
queue, with --topic a topic, and for a name like events/Subscriptions/all a
subscription. Settings without a flag have the service's defaults. Every queue
and every subscription has its dead-letter queue from the start.

Entities that functions name are made when the app is loaded (switch
autoCreateEntities). For more than a few, write a Config.json and start with
--servicebus-config.`,
	Example: `  redeliver create servicebus orders --lock-duration 30s --max-delivery-count 3
  redeliver create servicebus events --topic
  redeliver create servicebus events/Subscriptions/large --filter 'amount > 1000'`,
	Text: createdBus,
	Check: func(in *servicebus.CreateEntity) (err error) {
		if in.Path, err = busPath(in.Path); err == nil && (in.MaxDeliveryCount < 0 || in.MaxSizeInMegabytes < 0 || in.MaxMessageSizeInKilobytes < 0) {
			err = cli.Misused(errors.New("--max-delivery-count, --max-size and --max-message-size: want a number above 0"))
		}
		in.RequiresDuplicateDetection = in.RequiresDuplicateDetection || in.DuplicateDetectionHistoryTimeWindow != ""
		return err
	},
}

// createdBus reports the new entity with its most important settings.
func createdBus(_ *servicebus.CreateEntity, e *servicebus.BusEntity) string {
	var facts []string
	if !e.IsTopic() {
		facts = append(facts, "lock "+cli.SpanText(e.Settings.LockDuration), cli.Plural(e.Settings.MaxDeliveryCount, "delivery"))
	}
	if e.Settings.RequiresSession {
		facts = append(facts, "sessions")
	}
	if e.Settings.RequiresDuplicateDetection {
		facts = append(facts, "duplicate detection over "+cli.SpanText(e.Settings.DuplicateDetectionHistoryTimeWindow))
	}
	text := cli.Textf("created %s %q", e.Kind, e.Path)
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, ", ") + ")"
	}
	return text + "\n"
}

// DeleteBus removes an entity.
var DeleteBus = Verb[servicebus.DeleteEntity, servicebus.EntityDeleted]{ // read only
	Use: "servicebus ENTITY", Short: "Remove a queue, topic or subscription with its messages",
	Long: `Delete removes a queue, a topic with its subscriptions, or a subscription from
the Service Bus namespace of the running host, with all messages and dead
letters. A receiver with a message in work finds that its lock is lost.

The next load of the app makes an entity again that a function or the file of
entities names.`,
	Example: `  redeliver delete servicebus orders
  redeliver delete servicebus events/Subscriptions/all`,
	Names: busNames(func(e *servicebus.BusEntity) []string { return []string{e.Path} }),
	Check: func(in *servicebus.DeleteEntity) (err error) { in.Path, err = busPath(in.Path); return err },
	Text: func(_ *servicebus.DeleteEntity, out *servicebus.EntityDeleted) string {
		return cli.Textf("deleted %s %q with %s%s\n", out.Kind, out.Path, subscriptionsAnd(out.Subscriptions, "subscription"), cli.Plural(int(out.Messages), "message"))
	},
}

// subscriptionsAnd begins a list with the subscriptions that a topic had.
func subscriptionsAnd(n int, what string) string {
	if n == 0 {
		return ""
	}
	return cli.Plural(n, what) + " and "
}

// busPath checks the path of an entity before the host is asked.
func busPath(text string) (string, error) {
	path, err := busapi.ParsePath(text)
	if err != nil {
		return "", cli.Hinted(cli.Misused(err), "for instance orders, events/Subscriptions/all or 'orders/$DeadLetterQueue', in quotes because of the $")
	}
	return path.String(), nil
}

// sendable are the paths to which messages can be sent.
func sendable(e *servicebus.BusEntity) []string {
	if e.IsSubscription() {
		return nil
	}
	return []string{e.Path}
}

package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/web/control"
)

func newCreate(std streams) *cobra.Command {
	return group("create servicebus|eventgrid|eventhub|cosmos NAME", "Make an entity of Service Bus, Event Grid, Event Hubs or Cosmos DB",
		newCreateBus(std), newCreateGrid(std), newCreateHub(std), newCreateCosmos(std))
}

// busSettings are the flags of a new entity.
type busSettings struct {
	entity                       control.CreateEntity
	lock, ttl, window, idle      span
	duplicates, dropFilterErrors bool
}

func newCreateBus(std streams) *cobra.Command {
	r := &remote{std: std}
	var s busSettings
	cmd := r.changes(&cobra.Command{
		Use:   "servicebus ENTITY",
		Short: "Make a queue, topic or subscription",
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
		Args:              arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			in, err := s.operation(path)
			if err != nil {
				return err
			}
			return tell(cmd, r, in, createdText)
		},
	})
	s.add(cmd)
	return cmd
}

// add adds the flags of the settings, named and limited as spec messaging 1.1 has
// them.
func (s *busSettings) add(cmd *cobra.Command) {
	e, flags := &s.entity, cmd.Flags()
	flags.BoolVar(&e.Topic, "topic", false, "make a topic")
	flags.Var(&s.lock, "lock-duration", "life of a lock, 5s to 5m (default 1m)")
	flags.IntVar(&e.MaxDeliveryCount, "max-delivery-count", 0, "failed deliveries before a message is dead-lettered, 1 or more (default 10)")
	flags.Var(&s.ttl, "ttl", "longest time to live of a message (default unlimited)")
	flags.BoolVar(&e.DeadLetteringOnMessageExpiration, "dead-letter-on-expiration", false, "dead-letter expired messages, instead of dropping them")
	flags.BoolVar(&e.RequiresSession, "sessions", false, "require sessions")
	flags.BoolVar(&s.duplicates, "duplicate-detection", false, "drop messages whose ID was sent before")
	flags.Var(&s.window, "duplicate-window", "how long IDs are remembered, 5s to 7 days (default 10m); implies --duplicate-detection")
	flags.StringVar(&e.ForwardTo, "forward-to", "", "queue or topic to which all messages are forwarded")
	flags.StringVar(&e.ForwardDeadLetteredMessagesTo, "forward-dead-letters-to", "", "queue or topic to which dead letters are forwarded")
	flags.IntVar(&e.MaxSizeInMegabytes, "max-size", 0, "maximum size of all messages together in MB (default 1024)")
	flags.IntVar(&e.MaxMessageSizeInKilobytes, "max-message-size", 0, "maximum size of one message in KB (default 256)")
	flags.Var(&s.idle, "auto-delete-on-idle", "remove the entity when nobody has used it for this long, 5m or more")
	flags.StringVar(&e.Status, "status", "", "Active, Disabled, SendDisabled or ReceiveDisabled (default Active)")
	flags.StringVar(&e.UserMetadata, "user-metadata", "", "text of your own")
	flags.StringVar(&e.Filter, "filter", "", "SQL filter of a subscription (default: every message)")
	flags.StringVar(&e.Action, "action", "", "SQL action of a subscription, e.g. \"SET priority = 'high'\"")
	flags.BoolVar(&s.dropFilterErrors, "drop-on-filter-error", false, "drop messages for which the filter fails, instead of dead-lettering them")
}

// operation is the request that the flags make.
func (s *busSettings) operation(path string) (control.CreateEntity, error) {
	e := s.entity
	e.Path = path
	if e.MaxDeliveryCount < 0 || e.MaxSizeInMegabytes < 0 || e.MaxMessageSizeInKilobytes < 0 {
		return e, &usageError{errors.New("--max-delivery-count, --max-size and --max-message-size: want a number above 0")}
	}
	e.LockDuration, e.DefaultMessageTimeToLive, e.AutoDeleteOnIdle = s.lock.iso(), s.ttl.iso(), s.idle.iso()
	e.DuplicateDetectionHistoryTimeWindow = s.window.iso()
	e.RequiresDuplicateDetection = s.duplicates || s.window != 0
	if s.dropFilterErrors {
		no := false
		e.DeadLetteringOnFilterEvaluationExceptions = &no
	}
	return e, nil
}

// createdText reports the new entity with its most important settings.
func createdText(e *control.BusEntity) string {
	var facts []string
	if e.Kind != control.BusTopic {
		facts = append(facts, "lock "+spanText(e.Settings.LockDuration), plural(e.Settings.MaxDeliveryCount, "delivery"))
	}
	if e.Settings.RequiresSession {
		facts = append(facts, "sessions")
	}
	if e.Settings.RequiresDuplicateDetection {
		facts = append(facts, "duplicate detection over "+spanText(e.Settings.DuplicateDetectionHistoryTimeWindow))
	}
	text := textf("created %s %q", e.Kind, e.Path)
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, ", ") + ")"
	}
	return text + "\n"
}

// busPath checks the path of an entity before the host is asked.
func busPath(text string) (string, error) {
	path, err := servicebus.ParsePath(text)
	if err != nil {
		return "", hinted(&usageError{err}, "for instance orders, events/Subscriptions/all or 'orders/$DeadLetterQueue', in quotes because of the $")
	}
	return path.String(), nil
}

package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/explain"
	servicebuops "github.com/redeliver/redeliver/host/ops/servicebus"
)

func newCreate(std cli.Streams) *cobra.Command {
	return cli.Group("create servicebus|eventgrid|eventhub|cosmos NAME", "Make an entity of Service Bus, Event Grid, Event Hubs or Cosmos DB",
		newCreateBus(std), newCreateGrid(std), newCreateHub(std), newCreateCosmos(std))
}

// settingFlags are the flags of a new entity's settings, in the words of their help.
var settingFlags = []struct{ name, setting, words string }{
	{"lock-duration", "LockDuration", "life of a lock"},
	{"max-delivery-count", "MaxDeliveryCount", "failed deliveries before a message is dead-lettered"},
	{"ttl", "DefaultMessageTimeToLive", "longest time to live of a message"},
	{"dead-letter-on-expiration", "DeadLetteringOnMessageExpiration", "dead-letter expired messages, instead of dropping them"},
	{"sessions", "RequiresSession", "require sessions"},
	{"duplicate-detection", "RequiresDuplicateDetection", "drop messages whose ID was sent before"},
	{"duplicate-window", "DuplicateDetectionHistoryTimeWindow", "how long IDs are remembered (implies --duplicate-detection)"},
	{"forward-to", "ForwardTo", "queue or topic to which all messages are forwarded"},
	{"forward-dead-letters-to", "ForwardDeadLetteredMessagesTo", "queue or topic to which dead letters are forwarded"},
	{"max-size", "MaxSizeInMegabytes", "maximum size of all messages together in MB"},
	{"max-message-size", "MaxMessageSizeInKilobytes", "maximum size of one message in KB"},
	{"auto-delete-on-idle", "AutoDeleteOnIdle", "remove the entity when nobody has used it for this long"},
	{"status", "Status", "Active, Disabled, SendDisabled or ReceiveDisabled"},
	{"user-metadata", "UserMetadata", "text of your own"},
}

func newCreateBus(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var e servicebuops.CreateEntity
	var dropFilterErrors bool
	cmd := r.Changes(&cobra.Command{
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
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := busPath(args[0])
			if err != nil {
				return err
			}
			if e.MaxDeliveryCount < 0 || e.MaxSizeInMegabytes < 0 || e.MaxMessageSizeInKilobytes < 0 {
				return cli.Misused(errors.New("--max-delivery-count, --max-size and --max-message-size: want a number above 0"))
			}
			e.Path = path
			e.RequiresDuplicateDetection = e.RequiresDuplicateDetection || e.DuplicateDetectionHistoryTimeWindow != ""
			if dropFilterErrors {
				e.DeadLetteringOnFilterEvaluationExceptions = new(bool)
			}
			return remote.Tell(cmd, r, e, createdText)
		},
	})
	flags := cmd.Flags()
	into := reflect.ValueOf(&e.BusSettings).Elem()
	table := setting.Of(&servicebus.Queue{})
	for _, f := range settingFlags {
		v := table[slices.IndexFunc(table, func(v setting.Value) bool { return v.Name == f.setting })]
		name, words := f.name, f.words+limits(v)
		switch at := into.FieldByName(v.Name).Addr().Interface().(type) {
		case *int:
			flags.IntVar(at, name, 0, words)
		case *bool:
			flags.BoolVar(at, name, false, words)
		case *string:
			if _, ok := v.In.(*time.Duration); ok {
				flags.Var((*cli.IsoSpan)(at), name, words)
			} else {
				flags.StringVar(at, name, "", words)
			}
		}
	}
	flags.BoolVar(&e.Topic, "topic", false, "make a topic")
	flags.StringVar(&e.Filter, "filter", "", "SQL filter of a subscription (default: every message)")
	flags.StringVar(&e.Action, "action", "", "SQL action of a subscription, e.g. \"SET priority = 'high'\"")
	flags.BoolVar(&dropFilterErrors, "drop-on-filter-error", false, "drop messages for which the filter fails, instead of dead-lettering them")
	return cmd
}

// limits are the limits and the default of a setting, as help tells them.
func limits(v setting.Value) (text string) {
	switch {
	case v.Max > 0:
		text = fmt.Sprintf(", %s to %s", explain.Span(v.Min), explain.Span(v.Max))
	case v.Min > 0:
		text = fmt.Sprintf(", %s or more (default unlimited)", explain.Span(v.Min))
	case v.Most > 0:
		text = fmt.Sprintf(", 1 to %d", v.Most)
	}
	switch def := v.Default.(type) {
	case time.Duration:
		text += " (default " + explain.Span(def) + ")"
	case int, servicebus.Status:
		text += fmt.Sprintf(" (default %v)", def)
	}
	return text
}

// createdText reports the new entity with its most important settings.
func createdText(e *servicebuops.BusEntity) string {
	var facts []string
	if e.Kind != setting.Topic {
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

// busPath checks the path of an entity before the host is asked.
func busPath(text string) (string, error) {
	path, err := servicebus.ParsePath(text)
	if err != nil {
		return "", cli.Hinted(cli.Misused(err), "for instance orders, events/Subscriptions/all or 'orders/$DeadLetterQueue', in quotes because of the $")
	}
	return path.String(), nil
}

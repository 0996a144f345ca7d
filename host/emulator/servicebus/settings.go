package servicebus

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// settings fills defaults in and notes the first setting that is not allowed.
type settings struct{ err error }

func (s *settings) fail(c messaging.Condition, format string, args ...any) {
	if s.err == nil {
		s.err = refuse(c, format, args...)
	}
}

func (s *settings) duration(what string, d *time.Duration, def, least, most time.Duration) {
	if *d == 0 {
		*d = def
	}
	if *d < least || *d > most {
		s.fail(messaging.ConditionArgumentOutOfRange, "%s %v: want %v to %v", what, *d, least, most)
	}
}

func (s *settings) number(what string, n *int, def, most int) {
	if *n == 0 {
		*n = def
	}
	if *n < 1 || *n > most {
		s.fail(messaging.ConditionArgumentOutOfRange, "%s %d: want 1 to %d", what, *n, most)
	}
}

const forever = 1<<63 - 1

func (s *settings) lock(d *time.Duration, deliveries *int) {
	s.duration("lock duration", d, servicebus.DefaultLockDuration, servicebus.MinLockDuration, servicebus.MaxLockDuration)
	s.number("maximum delivery count", deliveries, servicebus.DefaultMaxDeliveryCount, 1<<31-1)
}

func (s *settings) sizes(megabytes, kilobytes *int, partitioned *bool) {
	s.number("maximum size in megabytes", megabytes, servicebus.DefaultMaxSize, servicebus.MaxSizeLimit)
	*megabytes = servicebus.MaxSize(*megabytes, partitioned)
	s.number("maximum message size in kilobytes", kilobytes, servicebus.DefaultMaxMessageSize, servicebus.MaxMessageSizeLimit)
}

func (s *settings) window(d *time.Duration) {
	s.duration("duplicate detection window", d, servicebus.DefaultDuplicateWindow, servicebus.MinDuplicateWindow, servicebus.MaxDuplicateWindow)
}

func (s *settings) common(ttl, idle time.Duration, status *servicebus.Status, metadata string) {
	if ttl < 0 {
		s.fail(messaging.ConditionArgumentOutOfRange, "default message time to live %v: want more than zero", ttl)
	}
	if idle != 0 {
		s.duration("auto-delete on idle", &idle, 0, servicebus.MinAutoDeleteOnIdle, forever)
	}
	switch *status {
	case "":
		*status = servicebus.StatusActive
	case servicebus.StatusActive, servicebus.StatusDisabled, servicebus.StatusSendDisabled, servicebus.StatusReceiveDisabled:
	default:
		s.fail(messaging.ConditionArgumentError, "status %q: want Active, Disabled, SendDisabled or ReceiveDisabled", *status)
	}
	if n := utf8.RuneCountInString(metadata); n > servicebus.MaxUserMetadata {
		s.fail(messaging.ConditionArgumentOutOfRange, "user metadata of %d characters: want at most %d", n, servicebus.MaxUserMetadata)
	}
}

// echoed fills in the settings that have no effect.
func echoed(e *servicebus.Echoed) {
	fill := func(p **bool, def bool) {
		v := def
		if *p != nil {
			v = **p
		}
		*p = &v // never the caller's
	}
	fill(&e.EnablePartitioning, false)
	fill(&e.EnableExpress, false)
	fill(&e.SupportOrdering, false)
	fill(&e.EnableBatchedOperations, true)
}

// target checks where messages are forwarded to, names it as it was created, and keeps
// the address in which it was given.
func (s *settings) target(ns *Namespace, e *entity, name, address *string, session bool) {
	if *name == "" {
		*address = ""
		return
	}
	p, err := servicebus.ParsePath(*name)
	if err != nil {
		s.fail(messaging.ConditionArgumentError, "forwarding: %v", err)
		return
	}
	t := ns.entities[p.Key()]
	switch {
	case session:
		s.fail(messaging.ConditionArgumentError, "%s: an entity that requires sessions cannot forward", e.name())
	case t == e || e.parent != nil && t == e.parent:
		s.fail(messaging.ConditionArgumentError, "%s: an entity cannot forward to itself", e.name())
	case t == nil || t.subscription != nil:
		s.fail(messaging.ConditionNotFound, "%s: the forwarding target %q could not be found", e.name(), *name)
	default:
		if strings.Contains(*name, "://") {
			*address = *name
		} else if before, err := servicebus.ParsePath(*address); err != nil || before.Key() != t.key {
			*address = "" // of another target
		}
		*name = t.name()
	}
}

// fill completes the description of an entity and says what is wrong with it.
func (ns *Namespace) fill(e *entity) error {
	s := settings{err: e.complete()}
	switch {
	case e.queue != nil:
		d := e.queue
		s.target(ns, e, &d.ForwardTo, &d.ForwardToAddress, d.RequiresSession)
		s.target(ns, e, &d.ForwardDeadLetteredMessagesTo, &d.ForwardDeadLetteredMessagesToAddress, false)
	case e.subscription != nil:
		d := e.subscription
		s.target(ns, e, &d.ForwardTo, &d.ForwardToAddress, d.RequiresSession)
		s.target(ns, e, &d.ForwardDeadLetteredMessagesTo, &d.ForwardDeadLetteredMessagesToAddress, false)
	}
	return s.err
}

// complete is fill without the targets of forwarding, which may go while the entity
// stays.
func (e *entity) complete() error {
	var s settings
	switch {
	case e.queue != nil:
		d := e.queue
		d.Name = e.path.Entity
		s.lock(&d.LockDuration, &d.MaxDeliveryCount)
		s.sizes(&d.MaxSizeInMegabytes, &d.MaxMessageSizeInKilobytes, d.EnablePartitioning)
		s.window(&d.DuplicateDetectionHistoryTimeWindow)
		s.common(d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle, &d.Status, d.UserMetadata)
		s.rules(e, &d.AuthorizationRules)
		echoed(&d.Echoed)
	case e.topic != nil:
		d := e.topic
		d.Name = e.path.Entity
		s.sizes(&d.MaxSizeInMegabytes, &d.MaxMessageSizeInKilobytes, d.EnablePartitioning)
		s.window(&d.DuplicateDetectionHistoryTimeWindow)
		s.common(d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle, &d.Status, d.UserMetadata)
		s.rules(e, &d.AuthorizationRules)
		echoed(&d.Echoed)
	default:
		d := e.subscription
		d.Topic, d.Name = e.path.Entity, e.path.Subscription
		s.lock(&d.LockDuration, &d.MaxDeliveryCount)
		s.common(d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle, &d.Status, d.UserMetadata)
		echoed(&d.Echoed)
		onFilter := d.DeadLetteringOnFilterEvaluationExceptions == nil || *d.DeadLetteringOnFilterEvaluationExceptions
		d.DeadLetteringOnFilterEvaluationExceptions = &onFilter
	}
	return s.err
}

package servicebus

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// settings fills defaults in and notes the first setting that is not allowed.
type settings struct{ err error }

func (s *settings) fail(c messaging.Condition, format string, args ...any) {
	if s.err == nil {
		s.err = refuse(c, format, args...)
	}
}

const forever = 1<<63 - 1

// check completes the settings of an entity with the service's defaults, and says what
// is wrong with them.
func (s *settings) check(entity any) {
	for _, v := range setting.Of(entity) {
		v.Complete()
		switch in := v.In.(type) {
		case *time.Duration:
			most := cmp.Or(v.Max, forever)
			switch endless := v.Max == 0 && *in == 0; {
			case v.Name == "DefaultMessageTimeToLive":
				if *in < 0 {
					s.fail(messaging.ConditionArgumentOutOfRange, "%s %v: want more than zero", v.Words, *in)
				}
			case !endless && (*in < v.Min || *in > most):
				s.fail(messaging.ConditionArgumentOutOfRange, "%s %v: want %v to %v", v.Words, *in, v.Min, most)
			}
		case *int:
			if *in < 1 || *in > v.Most {
				s.fail(messaging.ConditionArgumentOutOfRange, "%s %d: want 1 to %d", v.Words, *in, v.Most)
			}
		case **bool:
			own := **in // never the caller's
			*in = &own
		case *servicebus.Status:
			if !slices.Contains([]servicebus.Status{servicebus.StatusActive, servicebus.StatusDisabled, servicebus.StatusSendDisabled, servicebus.StatusReceiveDisabled}, *in) {
				s.fail(messaging.ConditionArgumentError, "status %q: want Active, Disabled, SendDisabled or ReceiveDisabled", *in)
			}
		case *string:
			if n := utf8.RuneCountInString(*in); v.Name == "UserMetadata" && n > servicebus.MaxUserMetadata {
				s.fail(messaging.ConditionArgumentOutOfRange, "user metadata of %d characters: want at most %d", n, servicebus.MaxUserMetadata)
			}
		}
	}
}

// target checks where messages are forwarded to, names it as it was created, and keeps
// the address in which it was given. An entity may be its own target, as in the service
// (azure-servicebus for Python 7.15.0: test_mgmt_queue_update_success): the number of
// hops ends that.
func (s *settings) target(e *entity, name, address *string, session bool) {
	if *name == "" {
		*address = ""
		return
	}
	p, err := servicebus.ParsePath(*name)
	if err != nil {
		s.fail(messaging.ConditionArgumentError, "forwarding: %v", err)
		return
	}
	t := e.ns.entities[p.Key()]
	switch {
	case session:
		s.fail(messaging.ConditionArgumentError, "%s: an entity that requires sessions cannot forward", e.name())
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
func (e *entity) fill() error {
	s := settings{err: e.complete()}
	switch {
	case e.queue != nil:
		d := e.queue
		s.target(e, &d.ForwardTo, &d.ForwardToAddress, d.RequiresSession)
		s.target(e, &d.ForwardDeadLetteredMessagesTo, &d.ForwardDeadLetteredMessagesToAddress, false)
	case e.subscription != nil:
		d := e.subscription
		s.target(e, &d.ForwardTo, &d.ForwardToAddress, d.RequiresSession)
		s.target(e, &d.ForwardDeadLetteredMessagesTo, &d.ForwardDeadLetteredMessagesToAddress, false)
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
		s.check(d)
		d.MaxSizeInMegabytes = servicebus.MaxSize(d.MaxSizeInMegabytes, d.EnablePartitioning)
		s.rules(e, &d.AuthorizationRules)
	case e.topic != nil:
		d := e.topic
		d.Name = e.path.Entity
		s.check(d)
		d.MaxSizeInMegabytes = servicebus.MaxSize(d.MaxSizeInMegabytes, d.EnablePartitioning)
		s.rules(e, &d.AuthorizationRules)
	default:
		d := e.subscription
		d.Topic, d.Name = e.path.Entity, e.path.Subscription
		s.check(d)
	}
	return s.err
}

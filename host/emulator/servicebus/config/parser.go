package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// parser reads a file from its top.
type parser struct {
	reader
	out     *Entities
	names   map[string]string // of queues and topics, lower case: where
	forward []forward
}

// forward is where an entity forwards to, to be looked at when all are known.
type forward struct {
	path         string // of the setting
	from, target string
	session      bool // of the entity, when all its messages go on
	dead         bool // it is the dead-letter queue that forwards
	fields       func() (to, dead *string)
}

func (p *parser) file() {
	user, ok := p.userConfig("an object with Namespaces")
	if !ok {
		return
	}
	if at, _, ok := user.get("NamespaceConfig"); ok {
		p.otherService(at, serviceBusFile, eventHubsFile)
		return
	}
	user.logging("Logging")
	if at, ns, ok := user.only("Namespaces"); ok {
		p.namespace(at, ns)
	}
}

func (p *parser) namespace(path string, value any) {
	s := p.section(path, value, "Name", "Queues", "Topics")
	s.fixed("Name", namespaceName, "the namespace of the emulator has another name")
	s.items("Queues", p.queue)
	s.items("Topics", p.topic)
}

const entityWord = "queue or topic"

func checkEntity(name string) error {
	path, err := servicebus.ParsePath(name)
	if err == nil && (path.Entity != name || path.Subscription != "" || path.SubQueue != servicebus.MainQueue) {
		err = bindings.ErrInvalidName
	}
	return err
}

func checkSubscription(name string) error {
	path, err := servicebus.ParsePath("t/Subscriptions/" + name)
	if err == nil && path.Subscription != name {
		err = bindings.ErrInvalidName
	}
	return err
}

func (p *parser) queue(path string, value any) {
	s := p.section(path, value, "Name", "Properties")
	q := Queue{Path: path}
	q.Name = p.name(s, entityWord, checkEntity, p.names)
	set := s.settings(&q)
	p.out.Queues = append(p.out.Queues, q)
	i := len(p.out.Queues) - 1
	p.forwards(set, q.Name, q.RequiresSession, func() (to, dead *string) {
		return &p.out.Queues[i].ForwardTo, &p.out.Queues[i].ForwardDeadLetteredMessagesTo
	})
}

func (p *parser) topic(path string, value any) {
	s := p.section(path, value, "Name", "Properties", "Subscriptions")
	t := Topic{Path: path}
	t.Name = p.name(s, entityWord, checkEntity, p.names)
	s.settings(&t)
	p.out.Topics = append(p.out.Topics, t)
	taken := map[string]string{}
	s.items("Subscriptions", func(path string, value any) { p.subscription(path, value, t.Name, taken) })
}

func (p *parser) subscription(path string, value any, topic string, taken map[string]string) {
	s := p.section(path, value, "Name", "Properties", "Rules")
	sub := Subscription{Path: path}
	sub.Topic, sub.Name = topic, p.name(s, "subscription", checkSubscription, taken)
	set := s.settings(&sub)
	rules := map[string]string{}
	s.items("Rules", func(path string, value any) { sub.Rules = append(sub.Rules, p.rule(path, value, rules)) })
	p.out.Subscriptions = append(p.out.Subscriptions, sub)
	i := len(p.out.Subscriptions) - 1
	p.forwards(set, topic, sub.RequiresSession, func() (to, dead *string) {
		return &p.out.Subscriptions[i].ForwardTo, &p.out.Subscriptions[i].ForwardDeadLetteredMessagesTo
	})
}

// settings reads the properties of an entity, except its forward targets.
func (s *section) settings(entity any) *section {
	set := s.within("Properties", setting.Names(entity)...)
	for _, v := range setting.Of(entity) {
		switch in := v.In.(type) {
		case *time.Duration:
			if v.Max == 0 {
				*in = set.lifetime(v.Name, v.Min)
			} else {
				*in = set.span(v.Name, v.Min, v.Max)
			}
		case *int:
			*in = set.number(v.Name, v.Most)
		case *bool:
			*in = set.flag(v.Name)
		case **bool:
			*in = set.optionalFlag(v.Name)
		case *servicebus.Status:
			*in = set.status(v.Name)
		case *string:
			if v.Name == "UserMetadata" {
				*in = set.metadata(v.Name)
			}
		}
	}
	return set
}

func (s *section) status(key string) servicebus.Status {
	known := []string{"Active", "Disabled", "SendDisabled", "ReceiveDisabled"}
	text, ok := s.text(key)
	if !ok {
		return ""
	}
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, text) }); i >= 0 {
		return servicebus.Status(known[i])
	}
	path, _, _ := s.get(key)
	s.fault(path, strings.Join(known, ", "), "not one of the allowed values")
	return ""
}

func (s *section) metadata(key string) string {
	text, _ := s.text(key)
	if utf8.RuneCountInString(text) > servicebus.MaxUserMetadata {
		path, _, _ := s.get(key)
		s.fault(path, fmt.Sprintf("up to %d characters", servicebus.MaxUserMetadata), "too long")
	}
	return text
}

// forwards notes the targets of an entity; fields is asked when all are read.
func (p *parser) forwards(set *section, from string, session bool, fields func() (to, dead *string)) {
	for _, key := range [...]string{"ForwardTo", "ForwardDeadLetteredMessagesTo"} {
		target, ok := set.text(key)
		if !ok || target == "" {
			continue
		}
		path, _, _ := set.get(key)
		p.forward = append(p.forward, forward{path: path, from: from, target: target, session: session && key == "ForwardTo", fields: fields, dead: key != "ForwardTo"})
	}
}

// targets checks where entities forward to and names it as it is spelled there.
func (p *parser) targets() {
	for _, f := range p.forward {
		path, err := servicebus.ParsePath(f.target)
		spelled, known := "", false
		if err == nil && path.Subscription == "" && path.SubQueue == servicebus.MainQueue {
			spelled, known = p.spelled(path.Entity)
		}
		switch {
		case !known:
			fault := p.fault(f.path, "the name of a queue or topic of this file", "there is no such queue or topic in this file")
			fault.Hint = "describe the target under Queues or Topics, or leave the setting empty"
		case strings.EqualFold(spelled, f.from):
			p.fault(f.path, "another queue or topic", "an entity cannot forward to itself")
		case f.session:
			fault := p.fault(f.path, "nothing, or RequiresSession false", "an entity that requires sessions cannot forward")
			fault.Hint = "leave ForwardTo out, or RequiresSession"
		default:
			to, dead := f.fields()
			if f.dead {
				to = dead
			}
			*to = spelled
		}
	}
}

func (p *parser) spelled(name string) (string, bool) {
	for i := range p.out.Queues {
		if strings.EqualFold(p.out.Queues[i].Name, name) {
			return p.out.Queues[i].Name, true
		}
	}
	for i := range p.out.Topics {
		if strings.EqualFold(p.out.Topics[i].Name, name) {
			return p.out.Topics[i].Name, true
		}
	}
	return "", false
}

package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// The settings of each kind of entity: settings of the official file first, then
// the service's others.
var (
	sharedSettings = []string{
		"AutoDeleteOnIdle", "Status", "UserMetadata",
		"EnablePartitioning", "EnableExpress", "SupportOrdering", "EnableBatchedOperations",
	}
	sizeSettings  = []string{"MaxSizeInMegabytes", "MaxMessageSizeInKilobytes"}
	queueSettings = slices.Concat([]string{
		"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow", "ForwardDeadLetteredMessagesTo",
		"ForwardTo", "LockDuration", "MaxDeliveryCount", "RequiresDuplicateDetection", "RequiresSession",
	}, sizeSettings, sharedSettings)
	topicSettings = slices.Concat([]string{
		"DefaultMessageTimeToLive", "DuplicateDetectionHistoryTimeWindow", "RequiresDuplicateDetection",
	}, sizeSettings, sharedSettings)
	subscriptionSettings = slices.Concat([]string{
		"DeadLetteringOnMessageExpiration", "DefaultMessageTimeToLive", "LockDuration", "MaxDeliveryCount", "ForwardDeadLetteredMessagesTo",
		"ForwardTo", "RequiresSession", "DeadLetteringOnFilterEvaluationExceptions",
	}, sharedSettings)
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
	set := s.within("Properties", queueSettings...)
	q.LockDuration = set.span("LockDuration", servicebus.MinLockDuration, servicebus.MaxLockDuration)
	q.MaxDeliveryCount = set.number("MaxDeliveryCount", math.MaxInt32)
	q.DefaultMessageTimeToLive = set.lifetime("DefaultMessageTimeToLive", time.Second)
	q.DeadLetteringOnMessageExpiration = set.flag("DeadLetteringOnMessageExpiration")
	q.RequiresSession = set.flag("RequiresSession")
	q.RequiresDuplicateDetection = set.flag("RequiresDuplicateDetection")
	q.DuplicateDetectionHistoryTimeWindow = set.window()
	q.MaxSizeInMegabytes, q.MaxMessageSizeInKilobytes = set.sizes()
	q.AutoDeleteOnIdle = set.lifetime("AutoDeleteOnIdle", servicebus.MinAutoDeleteOnIdle)
	q.Status, q.UserMetadata, q.Echoed = set.shared()
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
	set := s.within("Properties", topicSettings...)
	t.DefaultMessageTimeToLive = set.lifetime("DefaultMessageTimeToLive", time.Second)
	t.RequiresDuplicateDetection = set.flag("RequiresDuplicateDetection")
	t.DuplicateDetectionHistoryTimeWindow = set.window()
	t.MaxSizeInMegabytes, t.MaxMessageSizeInKilobytes = set.sizes()
	t.AutoDeleteOnIdle = set.lifetime("AutoDeleteOnIdle", servicebus.MinAutoDeleteOnIdle)
	t.Status, t.UserMetadata, t.Echoed = set.shared()
	p.out.Topics = append(p.out.Topics, t)
	taken := map[string]string{}
	s.items("Subscriptions", func(path string, value any) { p.subscription(path, value, t.Name, taken) })
}

func (p *parser) subscription(path string, value any, topic string, taken map[string]string) {
	s := p.section(path, value, "Name", "Properties", "Rules")
	sub := Subscription{Path: path}
	sub.Topic, sub.Name = topic, p.name(s, "subscription", checkSubscription, taken)
	set := s.within("Properties", subscriptionSettings...)
	sub.LockDuration = set.span("LockDuration", servicebus.MinLockDuration, servicebus.MaxLockDuration)
	sub.MaxDeliveryCount = set.number("MaxDeliveryCount", math.MaxInt32)
	sub.DefaultMessageTimeToLive = set.lifetime("DefaultMessageTimeToLive", time.Second)
	sub.DeadLetteringOnMessageExpiration = set.flag("DeadLetteringOnMessageExpiration")
	sub.RequiresSession = set.flag("RequiresSession")
	sub.DeadLetteringOnFilterEvaluationExceptions = set.optionalFlag("DeadLetteringOnFilterEvaluationExceptions")
	sub.AutoDeleteOnIdle = set.lifetime("AutoDeleteOnIdle", servicebus.MinAutoDeleteOnIdle)
	sub.Status, sub.UserMetadata, sub.Echoed = set.shared()
	rules := map[string]string{}
	s.items("Rules", func(path string, value any) { sub.Rules = append(sub.Rules, p.rule(path, value, rules)) })
	p.out.Subscriptions = append(p.out.Subscriptions, sub)
	i := len(p.out.Subscriptions) - 1
	p.forwards(set, topic, sub.RequiresSession, func() (to, dead *string) {
		return &p.out.Subscriptions[i].ForwardTo, &p.out.Subscriptions[i].ForwardDeadLetteredMessagesTo
	})
}

func (s *section) window() time.Duration {
	return s.span("DuplicateDetectionHistoryTimeWindow", servicebus.MinDuplicateWindow, servicebus.MaxDuplicateWindow)
}

func (s *section) sizes() (megabytes, kilobytes int) {
	return s.number("MaxSizeInMegabytes", servicebus.MaxSizeLimit), s.number("MaxMessageSizeInKilobytes", servicebus.MaxMessageSizeLimit)
}

func (s *section) shared() (status servicebus.Status, metadata string, echoed servicebus.Echoed) {
	known := []string{"Active", "Disabled", "SendDisabled", "ReceiveDisabled"}
	if text, ok := s.text("Status"); ok {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, text) }); i >= 0 {
			status = servicebus.Status(known[i])
		} else {
			path, _, _ := s.get("Status")
			s.fault(path, strings.Join(known, ", "), "not one of the allowed values")
		}
	}
	metadata, _ = s.text("UserMetadata")
	if utf8.RuneCountInString(metadata) > servicebus.MaxUserMetadata {
		path, _, _ := s.get("UserMetadata")
		s.fault(path, fmt.Sprintf("up to %d characters", servicebus.MaxUserMetadata), "too long")
	}
	return status, metadata, servicebus.Echoed{
		EnablePartitioning: s.optionalFlag("EnablePartitioning"), EnableExpress: s.optionalFlag("EnableExpress"),
		SupportOrdering: s.optionalFlag("SupportOrdering"), EnableBatchedOperations: s.optionalFlag("EnableBatchedOperations"),
	}
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

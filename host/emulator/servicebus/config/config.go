package config

import (
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/schemas"
)

// namespaceName is the name that the official emulator's only namespace has.
const namespaceName = "sbemulatorns"

// Entities are the entities of a file. They are plain values and not changed after
// [Parse].
type Entities struct {
	Queues        []Queue
	Topics        []Topic
	Subscriptions []Subscription

	// Warnings are about unknown keys, which have no effect.
	Warnings []*schemas.Fault

	doc *schemas.Document
}

// Queue is a queue, and where it stands in the file.
type Queue struct {
	servicebus.Queue
	Path string // "UserConfig.Namespaces[0].Queues[0]"
}

// Topic is a topic, and where it stands in the file.
type Topic struct {
	servicebus.Topic
	Path string
}

// Subscription is a subscription with its rules, and where it stands in the file.
// Without rules it has the default one, which wants everything.
type Subscription struct {
	servicebus.Subscription
	Rules []servicebus.Rule
	Path  string
}

// Parse reads a file. The name is for faults. With faults the result holds the
// entities that could be read, to be shown and not applied.
func Parse(file string, text []byte) (*Entities, []*schemas.Fault) {
	doc, fault := schemas.Parse(file, text)
	if fault != nil {
		fault.Kind = "" // this is no file of the platform
		return &Entities{}, []*schemas.Fault{fault}
	}
	p := parser{reader: reader{doc: doc}, out: &Entities{doc: doc}, names: map[string]string{}}
	p.file()
	p.targets()
	schemas.Sort(p.faults)
	schemas.Sort(p.warnings)
	p.out.Warnings = p.warnings
	return p.out, p.faults
}

// MaxDeliveryCount is how many deliveries the entity of that path allows; false
// when the file has no such queue or subscription. Of a dead-letter queue it is the
// entity's. A nil receiver has no entities.
func (e *Entities) MaxDeliveryCount(path servicebus.Path) (int, bool) {
	n, _, _, ok := e.find(path)
	if n == 0 {
		n = servicebus.DefaultMaxDeliveryCount
	}
	return n, ok
}

// LockDuration is how long the entity of that path locks a message, likewise.
func (e *Entities) LockDuration(path servicebus.Path) (time.Duration, bool) {
	_, d, _, ok := e.find(path)
	if d == 0 {
		d = servicebus.DefaultLockDuration
	}
	return d, ok
}

// RequiresSession reports whether the entity of that path requires sessions,
// likewise.
func (e *Entities) RequiresSession(path servicebus.Path) (session, ok bool) {
	_, _, session, ok = e.find(path)
	return session, ok
}

// Has reports whether the file has a queue or topic of that name, and where.
func (e *Entities) Has(name string) (path string, ok bool) {
	if e == nil {
		return "", false
	}
	for i := range e.Queues {
		if strings.EqualFold(e.Queues[i].Name, name) {
			return e.Queues[i].Path, true
		}
	}
	for i := range e.Topics {
		if strings.EqualFold(e.Topics[i].Name, name) {
			return e.Topics[i].Path, true
		}
	}
	return "", false
}

func (e *Entities) find(path servicebus.Path) (deliveries int, lock time.Duration, session, ok bool) {
	if e == nil {
		return 0, 0, false, false
	}
	if path.Subscription == "" {
		for i := range e.Queues {
			if q := &e.Queues[i]; strings.EqualFold(q.Name, path.Entity) {
				return q.MaxDeliveryCount, q.LockDuration, q.RequiresSession, true
			}
		}
		return 0, 0, false, false
	}
	for i := range e.Subscriptions {
		if s := &e.Subscriptions[i]; strings.EqualFold(s.Topic, path.Entity) && strings.EqualFold(s.Name, path.Subscription) {
			return s.MaxDeliveryCount, s.LockDuration, s.RequiresSession, true
		}
	}
	return 0, 0, false, false
}

package servicebus

import (
	"context"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// create adds an entity that has been filled.
func (ns *Namespace) create(op *operation, e *entity) error {
	if other := ns.entities[e.key]; other != nil {
		return refuse(messaging.ConditionEntityAlreadyExists, "the messaging entity %q exists already", other.name())
	}
	if err := ns.fill(e); err != nil {
		return err
	}
	e.created, e.updated = op.now, op.now
	ns.install(e)
	op.saveEntity(e)
	e.watchIdle(op.now)
	return nil
}

// install puts an entity in its place, at creation and when the namespace is
// read.
func (ns *Namespace) install(e *entity) {
	e.settle()
	if e.topic == nil && e.dead == nil {
		e.addSubQueues()
	}
	ns.entities[e.key] = e
	if p := e.parent; p != nil {
		i, _ := slices.BinarySearchFunc(p.subscriptions, e.key, func(s *entity, key string) int { return strings.Compare(s.key, key) })
		p.subscriptions = slices.Insert(p.subscriptions, i, e)
	}
	ns.feed(e)
}

// feed keeps who forwards to whom. It is called when that may have changed, and
// after an entity has gone.
func (ns *Namespace) feed(e *entity) {
	for key, list := range ns.feeders {
		if i := slices.Index(list, e); i >= 0 {
			ns.feeders[key] = slices.Delete(list, i, i+1)
			if len(list) == 1 {
				delete(ns.feeders, key)
			}
		}
	}
	if e.forwardTo != "" && ns.entities[e.key] == e {
		ns.feeders[lower(e.forwardTo)] = append(ns.feeders[lower(e.forwardTo)], e)
	}
}

// changed makes an update of an entity's description take effect.
func (ns *Namespace) changed(op *operation, e *entity) {
	e.updated = op.now
	if e.parent != nil {
		e.parent.use(op)
	}
	e.settle()
	ns.feed(e)
	op.saveEntity(e)
	e.watchIdle(op.now)
	for _, s := range e.subscriptions {
		s.settle()
	}
	for _, q := range e.queues() {
		q.arrived.Broadcast()
		q.ended.Broadcast()
		for _, s := range q.sessionLocks {
			for _, s := range s.All() {
				s.changed.Broadcast()
			}
		}
		op.touch(q)
	}
	if e.forwardTo != "" {
		ns.drain(op, e)
	}
}

// drop deletes an entity and all that belongs to it.
func (ns *Namespace) drop(op *operation, e *entity) {
	for _, s := range slices.Clone(e.subscriptions) {
		ns.drop(op, s)
	}
	for _, q := range e.queues() {
		q.end(notFound(e))
	}
	if e.idleTimer != nil {
		e.idleTimer.Stop()
	}
	if p := e.parent; p != nil {
		p.size -= e.size
		p.subscriptions = slices.DeleteFunc(p.subscriptions, func(s *entity) bool { return s == e })
	}
	delete(ns.entities, e.key)
	ns.feed(e)
	op.dropEntity(e)
}

// autoCreate makes what a path names (spec host-and-retry 0.2, autoCreateEntities any).
func (ns *Namespace) autoCreate(op *operation, p servicebus.Path) (*entity, error) {
	if p.Subscription == "" {
		e := newEntity(ns, p.Main())
		e.queue = &servicebus.Queue{}
		return e, ns.create(op, e)
	}
	topic := ns.entities[servicebus.Path{Entity: p.Entity}.Key()]
	if topic == nil {
		topic = newEntity(ns, servicebus.Path{Entity: p.Entity})
		topic.topic = &servicebus.Topic{}
		if err := ns.create(op, topic); err != nil {
			return nil, err
		}
	}
	return ns.createSubscription(op, topic, servicebus.Subscription{Name: p.Subscription}, nil)
}

func (ns *Namespace) createSubscription(op *operation, topic *entity, d servicebus.Subscription, first *servicebus.Rule) (*entity, error) {
	if topic.topic == nil {
		return nil, refuse(messaging.ConditionNotFound, "the topic %q could not be found", topic.name())
	}
	if first == nil {
		first = &servicebus.Rule{}
	}
	r, err := ns.newRule(op, *first)
	if err != nil {
		return nil, err
	}
	e := newEntity(ns, servicebus.Path{Entity: topic.path.Entity, Subscription: d.Name})
	e.parent, e.subscription, e.rules = topic, &d, []*rule{r}
	if err := ns.create(op, e); err != nil {
		return nil, err
	}
	e.use(op) // and the topic
	return e, nil
}

// newRule checks the first rule of a subscription, which need not have a name.
func (ns *Namespace) newRule(op *operation, r servicebus.Rule) (*rule, error) {
	if r.Name == "" {
		r.Name = servicebus.DefaultRule
	}
	if err := servicebus.ValidateRuleName(r.Name); err != nil {
		return nil, err
	}
	r.Created = op.now
	return ns.compile(r)
}

// kind says what an administrator asks for.
type kind struct {
	word string
	is   func(*entity) bool
}

var (
	queueKind = kind{"queue", func(e *entity) bool { return e.queue != nil }}
	topicKind = kind{"topic", func(e *entity) bool { return e.topic != nil }}
	subKind   = kind{"subscription", func(e *entity) bool { return e.subscription != nil }}
)

// named returns the path of an entity whose name an administrator gave.
func named(entity, subscription string) (servicebus.Path, error) {
	text := entity
	if subscription != "" {
		text += "/Subscriptions/" + subscription
	}
	p, err := servicebus.ParsePath(text)
	if err == nil && (p.SubQueue != servicebus.MainQueue || p.Entity != strings.Trim(entity, "/") || p.Subscription != subscription) {
		err = invalidName(entity, subscription)
	}
	if err != nil {
		return p, err
	}
	return p, nil
}

// lookUp returns the entity of a kind; what is due in it is done.
func (ns *Namespace) lookUp(op *operation, k kind, p servicebus.Path) (*entity, error) {
	e := ns.entities[p.Key()]
	if e == nil || !k.is(e) {
		return nil, refuse(messaging.ConditionNotFound, "the %s %q could not be found", k.word, p)
	}
	for _, q := range e.queues() {
		q.tick(op)
	}
	return e, nil
}

// all returns the entities of a kind, sorted.
func (ns *Namespace) all(op *operation, k kind) []*entity {
	var list []*entity
	for _, e := range ns.entities {
		if k.is(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entity) int { return strings.Compare(a.key, b.key) })
	for _, e := range list {
		for _, q := range e.queues() {
			q.tick(op)
		}
	}
	return list
}

// remove deletes the entity of a kind.
func (ns *Namespace) remove(ctx context.Context, what string, k kind, entity, subscription string) error {
	p, err := named(entity, subscription)
	if err != nil {
		return err
	}
	return ns.operate(ctx, FaultPoint{Op: what, Entity: p.String()}, func(op *operation) error {
		e, err := ns.lookUp(op, k, p)
		if err != nil {
			return err
		}
		ns.drop(op, e)
		return nil
	})
}

// runtime returns what an entity has come to.
func (e *entity) runtime() servicebus.Runtime {
	r := servicebus.Runtime{SizeInBytes: e.size, Created: e.created, Updated: e.updated, Accessed: e.accessed}
	r.Counts.Active, r.Counts.Deferred, r.Counts.Scheduled = e.main.counts()
	if e.topic == nil {
		r.Counts.DeadLetter, r.Counts.TransferDeadLetter = int64(e.dead.all.n), int64(e.transfer.all.n)
	}
	return r
}

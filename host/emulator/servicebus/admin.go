package servicebus

import (
	"context"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// create adds an entity that has been filled.
func (e *entity) create(op *operation) error {
	if other := e.ns.entities[e.key]; other != nil {
		return refuse(messaging.ConditionEntityAlreadyExists, "the messaging entity %q exists already", other.name())
	}
	if err := e.fill(); err != nil {
		return err
	}
	e.created, e.updated = op.now, op.now
	e.ns.install(e)
	op.saveEntity(e)
	e.watchIdle(op.now)
	return nil
}

// changed makes an update of an entity's description take effect.
func (e *entity) changed(op *operation) {
	e.updated = op.now
	if e.parent != nil {
		e.parent.use(op)
	}
	e.settle()
	e.ns.feed(e)
	op.saveEntity(e)
	e.watchIdle(op.now)
	for _, s := range e.subscriptions {
		s.settle()
	}
	for _, q := range e.queues() {
		q.arrived.Broadcast()
		q.ended.Broadcast()
		for _, s := range q.sessions.locks {
			for _, s := range s.All() {
				s.changed.Broadcast()
			}
		}
		op.touch(q)
	}
	if e.forwardTo != "" {
		e.drain(op)
	}
}

// drop deletes an entity and all that belongs to it.
func (e *entity) drop(op *operation) {
	for _, s := range slices.Clone(e.subscriptions) {
		s.drop(op)
	}
	for _, q := range e.queues() {
		q.end(notFound(e))
	}
	if e.idleTimer != nil {
		e.idleTimer.Stop()
	}
	if e.parent != nil {
		e.parent.size -= e.size
	}
	e.ns.topology.remove(e)
	op.dropEntity(e)
}

// autoCreate makes what a path names (spec host-and-retry 0.2, autoCreateEntities any).
func (op *operation) autoCreate(p servicebus.Path) (*entity, error) {
	if p.Subscription == "" {
		e := newEntity(op.ns, p.Main())
		e.queue = &servicebus.Queue{}
		return e, e.create(op)
	}
	topic := op.ns.entities[servicebus.Path{Entity: p.Entity}.Key()]
	if topic == nil {
		topic = newEntity(op.ns, servicebus.Path{Entity: p.Entity})
		topic.topic = &servicebus.Topic{}
		if err := topic.create(op); err != nil {
			return nil, err
		}
	}
	return op.createSubscription(topic, servicebus.Subscription{Name: p.Subscription}, nil)
}

func (op *operation) createSubscription(topic *entity, d servicebus.Subscription, first *servicebus.Rule) (*entity, error) {
	if topic.topic == nil {
		return nil, refuse(messaging.ConditionNotFound, "the topic %q could not be found", topic.name())
	}
	if first == nil {
		first = &servicebus.Rule{}
	}
	r, err := op.newRule(*first)
	if err != nil {
		return nil, err
	}
	e := newEntity(op.ns, servicebus.Path{Entity: topic.path.Entity, Subscription: d.Name})
	e.parent, e.subscription, e.rules = topic, &d, []*rule{r}
	if err := e.create(op); err != nil {
		return nil, err
	}
	e.use(op) // and the topic
	return e, nil
}

// newRule checks the first rule of a subscription, which need not have a name.
func (op *operation) newRule(r servicebus.Rule) (*rule, error) {
	if r.Name == "" {
		r.Name = servicebus.DefaultRule
	}
	if err := servicebus.ValidateRuleName(r.Name); err != nil {
		return nil, err
	}
	r.Created = op.now
	return compile(r, op.ns.ids.GUID)
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
func (op *operation) lookUp(k kind, p servicebus.Path) (*entity, error) {
	e := op.ns.entities[p.Key()]
	if e == nil || !k.is(e) {
		return nil, refuse(messaging.ConditionNotFound, "the %s %q could not be found", k.word, p)
	}
	for _, q := range e.queues() {
		q.tick(op)
	}
	return e, nil
}

// all returns the entities of a kind, sorted.
func (op *operation) all(k kind) []*entity {
	var list []*entity
	for _, e := range op.ns.entities {
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
func remove(ctx context.Context, ns *Namespace, what string, k kind, entity, subscription string) error {
	p, err := named(entity, subscription)
	if err != nil {
		return err
	}
	return ns.operate(ctx, FaultPoint{Op: what, Entity: p.String()}, func(op *operation) error {
		e, err := op.lookUp(k, p)
		if err != nil {
			return err
		}
		e.drop(op)
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

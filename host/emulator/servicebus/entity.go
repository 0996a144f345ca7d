package servicebus

import (
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// entity is a queue, a topic or a subscription with its queues. One of the three
// descriptions is set, with every default filled in; what the rules read in each
// call stands beside it.
type entity struct {
	ns   *Namespace
	path servicebus.Path
	key  string

	queue        *servicebus.Queue
	topic        *servicebus.Topic
	subscription *servicebus.Subscription

	lockDuration      time.Duration
	maxDeliveryCount  int64
	requiresSession   bool
	deadLetterExpired bool
	forwardTo         string
	forwardDead       string
	status            servicebus.Status
	ttl               time.Duration // 0: no end
	maxMessage        int           // bytes
	maxSize           int64         // bytes; 0: the limit of the topic
	window            time.Duration // of duplicate detection; 0: none
	idle              time.Duration // after which it is deleted; 0: never

	main, dead, transfer *queue // the latter two are nil in a topic

	parent        *entity   // topic of a subscription
	subscriptions []*entity // of a topic, by key
	rules         []*rule   // of a subscription, by time of creation

	size      int64 // bytes of all messages, in subscriptions too
	seen      history
	created   time.Time
	updated   time.Time
	accessed  time.Time
	busyAt    time.Time // when it was found to be in use without a call
	idleTimer *clock.Timer
}

func newEntity(ns *Namespace, path servicebus.Path) *entity {
	e := &entity{ns: ns, path: path, key: path.Key()}
	e.main = newQueue(e, servicebus.MainQueue)
	return e
}

// addSubQueues gives a queue or subscription what a topic does not have.
func (e *entity) addSubQueues() {
	e.dead = newQueue(e, servicebus.DeadLetterQueue)
	e.transfer = newQueue(e, servicebus.TransferDeadLetterQueue)
}

func (e *entity) queues() []*queue {
	if e.topic != nil {
		return []*queue{e.main}
	}
	return []*queue{e.main, e.dead, e.transfer}
}

func (e *entity) name() string { return e.path.String() }

// settle copies what the rules read out of the description.
func (e *entity) settle() {
	switch {
	case e.queue != nil:
		d := e.queue
		e.lockDuration, e.maxDeliveryCount, e.requiresSession = d.LockDuration, int64(d.MaxDeliveryCount), d.RequiresSession
		e.deadLetterExpired, e.forwardTo, e.forwardDead = d.DeadLetteringOnMessageExpiration, d.ForwardTo, d.ForwardDeadLetteredMessagesTo
		e.status, e.ttl, e.idle = d.Status, d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle
		e.maxMessage, e.maxSize = d.MaxMessageSizeInKilobytes<<10, int64(d.MaxSizeInMegabytes)<<20
		if d.RequiresDuplicateDetection {
			e.window = d.DuplicateDetectionHistoryTimeWindow
		}
		e.seen.partitioned = isPartitioned(d.Echoed)
	case e.topic != nil:
		d := e.topic
		e.status, e.ttl, e.idle = d.Status, d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle
		e.maxMessage, e.maxSize = d.MaxMessageSizeInKilobytes<<10, int64(d.MaxSizeInMegabytes)<<20
		if d.RequiresDuplicateDetection {
			e.window = d.DuplicateDetectionHistoryTimeWindow
		}
		e.seen.partitioned = isPartitioned(d.Echoed)
	default:
		d := e.subscription
		e.lockDuration, e.maxDeliveryCount, e.requiresSession = d.LockDuration, int64(d.MaxDeliveryCount), d.RequiresSession
		e.deadLetterExpired, e.forwardTo, e.forwardDead = d.DeadLetteringOnMessageExpiration, d.ForwardTo, d.ForwardDeadLetteredMessagesTo
		e.status, e.ttl, e.idle = d.Status, d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle
		e.maxMessage = e.parent.maxMessage
	}
}

// life is the shorter of a message's and the entity's time to live; 0: no end. A
// topic's cuts its subscriptions' too.
func (e *entity) life(ttl time.Duration) time.Duration {
	limit := e.ttl
	if e.parent != nil {
		limit = shorter(limit, e.parent.ttl)
	}
	return shorter(limit, ttl)
}

func shorter(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// grow counts bytes.
func (e *entity) grow(n int) {
	e.size += int64(n)
	if e.parent != nil {
		e.parent.size += int64(n)
	}
}

// full reports whether n more bytes are too many, for a subscription in its topic.
func (e *entity) full(n int) bool {
	return e.maxSize > 0 && e.size+int64(n) > e.maxSize || e.parent != nil && e.parent.full(n)
}

func (e *entity) sends() bool {
	return e.status == servicebus.StatusActive || e.status == servicebus.StatusReceiveDisabled
}

func (e *entity) receives() bool {
	return e.status == servicebus.StatusActive || e.status == servicebus.StatusSendDisabled
}

// find returns the queue of a path, and what its entity has to do by now done.
func (op *operation) find(path string) (*queue, error) {
	q, err := op.resolve(path)
	if err != nil {
		return nil, err
	}
	q.owner.use(op)
	q.tick(op)
	if q.gone != nil {
		return nil, q.gone
	}
	return q, nil
}

func (op *operation) resolve(path string) (*queue, error) {
	if e := op.ns.entities[path]; e != nil { // spelled as its key is, as most are
		return e.main, nil
	}
	p, err := servicebus.ParsePath(path)
	if err != nil {
		return nil, err
	}
	e, err := op.ns.at(p)
	if err != nil && op.ns.opts.AutoCreateEntitiesOnUse {
		e, err = op.autoCreate(p)
	}
	if err != nil {
		return nil, err
	}
	q := e.main
	switch p.SubQueue {
	case servicebus.DeadLetterQueue:
		q = e.dead
	case servicebus.TransferDeadLetterQueue:
		q = e.transfer
	}
	if q == nil {
		return nil, refuse(messaging.ConditionNotFound, "topic %q has no %s", e.name(), p.SubQueue)
	}
	return q, nil
}

// use notes a use of the entity, and with a subscription of its topic.
func (e *entity) use(op *operation) {
	e.accessed = op.now
	if e.parent != nil {
		e.parent.accessed = op.now
	}
}

package servicebus

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// transaction is a list of steps that are checked when they are asked for, checked
// again when it is committed, and then done in one operation: so they are one
// change of the store. Messages that it settles are claimed meanwhile: no other
// call settles them, and their locks do not end. Its fields are guarded by the
// namespace's lock.
type transaction struct {
	ns     *Namespace
	id     bindings.GUID
	scope  string // key of the entity, once there is one
	entity string // its name
	steps  []step
	timer  *clock.Timer
	sent   int // messages
	bytes  int // of them; zero when it has ended

	partition *string // key of the messages; nil: none needed one yet

	failed error       // a step was refused
	ended  error       // what a call gets from now on; nil: it is open
	over   atomic.Bool // it is not
}

// step is one send, schedule or settlement of a transaction, or another change.
type step struct {
	entity   string // or the source of a settlement
	through  bool   // it goes through the transaction's entity
	messages []*servicebus.Message
	numbers  []int64 // of scheduled messages; nil: they are sent
	numbered *entity // that gave the numbers

	tokens []bindings.GUID
	how    servicebus.Settlement

	change func(op *operation) (carryOut func(), err error) // checks it again
}

// Begin implements servicebus.Transactions.
func (ns *Namespace) Begin(ctx context.Context, via string) (servicebus.Transaction, error) {
	t := &transaction{ns: ns}
	err := ns.operate(ctx, FaultPoint{Op: "Begin"}, func(op *operation) error {
		if via != "" {
			if q, err := op.resolve(via); err == nil {
				t.scope, t.entity = scopeOf(q.owner), top(q.owner).name()
			}
		}
		t.id = ns.ids.GUID()
		ns.open = append(ns.open, t)
		t.timer = ns.clk.AfterFunc(servicebus.TransactionTimeout, "time-out of a transaction", t.expire)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// giveUpLocked ends open transactions with their state: none reaches into the next
// state. The next operation reports it.
func (ns *Namespace) giveUpLocked() {
	for _, t := range slices.Clone(ns.open) {
		t.steps = nil
		ns.untold = append(ns.untold, t.overLocked(errReplaced))
		t.ended = rolledBack(errReplaced)
	}
	clear(ns.claims)
}

var errReplaced = errors.New("the state of the namespace was replaced")

// ID implements servicebus.Transaction.
func (t *transaction) ID() bindings.GUID { return t.id }

// Open implements servicebus.Transaction.
func (t *transaction) Open() bool { return !t.over.Load() }

// Send implements servicebus.Transaction.
func (t *transaction) Send(ctx context.Context, entity string, through bool, messages ...*servicebus.Message) error {
	return t.do(ctx, FaultPoint{Op: "Send", Entity: entity}, func(op *operation) (step, error) {
		e, err := t.target(op, entity, through, messages)
		if err != nil {
			return step{}, err
		}
		s := step{entity: entity, through: t.scope != scopeOf(e)}
		for _, m := range messages {
			s.messages = append(s.messages, op.own(m))
		}
		return s, nil
	})
}

// ScheduleEach implements servicebus.Transaction.
func (t *transaction) ScheduleEach(ctx context.Context, entity string, through bool, messages ...*servicebus.Message) (numbers []int64, err error) {
	err = t.do(ctx, FaultPoint{Op: "Schedule", Entity: entity}, func(op *operation) (step, error) {
		e, err := t.target(op, entity, through, messages)
		if err != nil {
			return step{}, err
		}
		s := step{entity: entity, through: t.scope != scopeOf(e), numbers: []int64{}, numbered: e}
		for _, m := range messages {
			s.messages = append(s.messages, op.own(m))
			s.numbers = append(s.numbers, e.main.nextSequence(op))
		}
		numbers = slices.Clone(s.numbers)
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return numbers, nil
}

// maxTransactionMessages is how many messages one transaction sends (docs: Service Bus
// quotas, messages per transaction).
const maxTransactionMessages = 100

// Bytes of messages that open transactions hold in memory. The service documents no such
// limits: the first is the size of the largest message there is, four times what 100
// messages of the standard tier can have.
const (
	maxTransactionBytes = servicebus.MaxMessageSizeLimit << 10 // of one transaction
	maxOpenBytes        = 2 * maxTransactionBytes              // of all in the namespace
)

// target returns the entity if it would take the messages now.
func (t *transaction) target(op *operation, entity string, through bool, messages []*servicebus.Message) (*entity, error) {
	if t.sent += len(messages); t.sent > maxTransactionMessages {
		return nil, refuse(messaging.ConditionResourceLimitExceeded, "cannot send more than %d messages in a single transaction", maxTransactionMessages)
	}
	e, err := op.sendTarget(entity, messages)
	if err != nil {
		return nil, err
	}
	if err := t.enter(e, through); err != nil {
		return nil, err
	}
	if err := t.checkPartition(e, messages); err != nil {
		return nil, err
	}
	size := 0
	for _, m := range messages {
		size += sizeOf(m)
	}
	switch {
	case t.bytes+size > maxTransactionBytes:
		return nil, refuse(messaging.ConditionResourceLimitExceeded, "cannot send more than %d bytes in a single transaction", maxTransactionBytes)
	case t.ns.openBytes+size > maxOpenBytes:
		return nil, refuse(messaging.ConditionResourceLimitExceeded, "cannot hold more than %d bytes in the open transactions of the namespace: end some of them first", maxOpenBytes)
	}
	t.bytes += size
	t.ns.openBytes += size
	return e, nil
}

// Settle implements servicebus.Transaction.
func (t *transaction) Settle(ctx context.Context, source string, how servicebus.Settlement, tokens ...bindings.GUID) error {
	if err := checkAction(how.Action); err != nil {
		return err
	}
	return t.do(ctx, FaultPoint{Op: actions[how.Action].op, Entity: source}, func(op *operation) (step, error) {
		q, err := op.find(source)
		if err != nil {
			return step{}, err
		}
		if err := t.enter(q.owner, false); err != nil {
			return step{}, err
		}
		for i, token := range tokens {
			if t.ns.claims[token] != nil || slices.Contains(tokens[:i], token) {
				return step{}, refuse(messaging.ConditionMessageLockLost, "%s: the message is settled in a transaction that has not ended", q.name)
			}
			if _, _, err := q.settleable(token, &how); err != nil {
				return step{}, err
			}
		}
		for _, token := range tokens {
			m := q.tokens[token]
			t.ns.claims[token] = t
			q.locks[half(m.outside)].Remove(m)
		}
		op.touch(q)
		return step{entity: source, how: how, tokens: slices.Clone(tokens)}, nil
	})
}

// do adds a step. One that is refused leaves a transaction that cannot be committed:
// there are clients that do not hear of a refusal (azure-core-amqp: ReactorSender
// takes any outcome of a transactional send for a success).
func (t *transaction) do(ctx context.Context, p FaultPoint, check func(op *operation) (step, error)) error {
	var refused error
	err := t.ns.operate(ctx, p, func(op *operation) error {
		if t.ended != nil {
			return t.ended
		}
		s, err := check(op)
		if err != nil {
			refused = err
			return err
		}
		t.steps = append(t.steps, s)
		return nil
	})
	if err != nil {
		t.ns.mu.Lock()
		defer t.ns.mu.Unlock()
		if t.failed == nil && t.ended == nil {
			t.failed = err
		}
	}
	if refused != nil {
		return refused
	}
	return err
}

// enter checks that an entity is within the transaction's scope, which the first one
// gives.
func (t *transaction) enter(e *entity, through bool) error {
	switch key := scopeOf(e); {
	case t.scope == "":
		t.scope, t.entity = key, top(e).name()
	case t.scope != key && !through:
		return refuse(messaging.ConditionTransactionRollback, "a transaction has one entity, here %q, and %q is another: transactions across entities go through one session of a connection, and only send to the others", t.entity, e.name())
	}
	return nil
}

// top is the entity itself, or the topic of a subscription.
func top(e *entity) *entity {
	if e.parent != nil {
		return e.parent
	}
	return e
}

func scopeOf(e *entity) string { return top(e).key }

// Commit implements servicebus.Transaction.
func (t *transaction) Commit(ctx context.Context) error {
	err := t.ns.operate(ctx, FaultPoint{Op: "Commit"}, func(op *operation) error {
		if t.ended != nil {
			return t.ended
		}
		plan, err := t.plan(op)
		if err != nil {
			t.endLocked(op, err)
			return rolledBack(err)
		}
		op.note(t.overLocked(nil))
		for _, f := range plan {
			f()
		}
		t.releaseLocked(op) // not before: a lock whose time is over must not end in between
		return nil
	})
	return t.close(err)
}

// Rollback implements servicebus.Transaction.
func (t *transaction) Rollback(ctx context.Context) error {
	err := t.ns.operate(ctx, FaultPoint{Op: "Rollback"}, func(op *operation) error {
		if t.ended != nil {
			return t.ended
		}
		t.endLocked(op, refuse(messaging.ConditionTransactionRollback, "the client rolled the transaction back"))
		return nil
	})
	return t.close(err)
}

// close ends a transaction whose end was refused before it began, as by a fault or a
// store that cannot be read.
func (t *transaction) close(err error) error {
	if err == nil {
		return nil
	}
	op := operations.Get().(*operation)
	defer operations.Put(op)
	if beginErr := op.begin(t.ns); beginErr == nil && t.ended == nil {
		t.endLocked(op, err)
	}
	if t.ended == nil {
		t.overLocked(err) // its claims are of a state that cannot be read
	}
	_ = op.finish(context.Background()) // what could not be written is told by the next call
	return err
}

var errNoTransaction = messaging.NewError(messaging.ConditionTransactionUnknown, "there is no such transaction: it was committed or rolled back")

func rolledBack(why error) error {
	return refuse(messaging.ConditionTransactionRollback, "the transaction was rolled back: %v", why)
}

// expire rolls back a transaction that was left open.
func (t *transaction) expire() {
	op := operations.Get().(*operation)
	defer operations.Put(op)
	if err := op.begin(t.ns); err == nil && t.ended == nil {
		late := refuse(messaging.ConditionTransactionTimeout, "the transaction was rolled back: it was open for %d seconds", int(servicebus.TransactionTimeout.Seconds()))
		t.endLocked(op, late)
		t.ended = late
	}
	_ = op.finish(context.Background()) // as in fire
}

// endLocked rolls the transaction back.
func (t *transaction) endLocked(op *operation, why error) {
	t.releaseLocked(op)
	op.note(t.overLocked(why))
}

// releaseLocked gives back what the steps hold, and forgets them.
func (t *transaction) releaseLocked(op *operation) {
	for _, s := range t.steps {
		for _, token := range s.tokens {
			t.release(op, s.entity, token)
		}
	}
	t.steps = nil
}

// overLocked ends the transaction and returns the record of that: why it is rolled back,
// or nil.
func (t *transaction) overLocked(why error) journal.Record {
	t.timer.Stop()
	t.ended = errNoTransaction
	t.over.Store(true)
	t.ns.open = slices.DeleteFunc(t.ns.open, func(o *transaction) bool { return o == t })
	t.ns.openBytes -= t.bytes
	t.bytes = 0
	r := journal.Record{Kind: journal.TransactionEnded, Source: t.entity, Decision: "committed"}
	if why != nil {
		r.Decision, r.Error = "rolled_back", why.Error()
	}
	return r
}

// release lets a lock end again that the transaction has claimed.
func (t *transaction) release(op *operation, source string, token bindings.GUID) {
	if t.ns.claims[token] != t {
		return
	}
	delete(t.ns.claims, token)
	q, err := op.resolve(source)
	if err != nil {
		return
	}
	if m := q.tokens[token]; m != nil && m.session == nil && m.inLocks == 0 {
		q.locks[half(m.outside)].Push(m)
		op.touch(q)
	}
}

// plan returns what commits the transaction, which cannot fail, or why it cannot be
// committed. It changes nothing but what is due.
func (t *transaction) plan(op *operation) ([]func(), error) {
	if t.failed != nil {
		return nil, t.failed
	}
	targets, err := t.targets(op)
	if err != nil {
		return nil, err
	}
	var plan []func()
	for i := range t.steps {
		s := &t.steps[i]
		switch {
		case s.messages != nil:
			plan = append(plan, func() { t.deliver(op, targets[i], s) })
			continue
		case s.change != nil:
			carryOut, err := s.change(op)
			if err != nil {
				return nil, err
			}
			plan = append(plan, carryOut)
			continue
		}
		q, err := op.find(s.entity)
		if err != nil {
			return nil, err
		}
		for _, token := range s.tokens {
			if t.ns.claims[token] != t {
				return nil, refuse(messaging.ConditionMessageLockLost, "%s: the lock of a message has been lost", q.name)
			}
			m, properties, err := q.settleable(token, &s.how)
			if err != nil {
				return nil, err
			}
			plan = append(plan, func() { q.carryOut(op, m, &s.how, properties) })
		}
	}
	return plan, nil
}

// targets returns the entity of each step that sends, by its place. All that goes to
// one entity has to fit into it together. A transfer that cannot arrive has none.
func (t *transaction) targets(op *operation) (map[int]*entity, error) {
	together := map[string][]*servicebus.Message{}
	for _, s := range t.steps {
		if s.messages != nil {
			together[lower(s.entity)] = append(together[lower(s.entity)], s.messages...)
		}
	}
	targets := map[int]*entity{}
	for i, s := range t.steps {
		if s.messages == nil {
			continue
		}
		if q, err := op.find(s.entity); err == nil && s.numbered != nil && q.owner != s.numbered {
			return nil, refuse(messaging.ConditionNotFound, "%q was deleted, and another entity made in its place, after a message was scheduled", s.entity)
		}
		e, err := op.sendTarget(s.entity, together[lower(s.entity)])
		if err != nil && !(s.through && t.via() != nil && transferable(err)) {
			return nil, err
		}
		targets[i] = e
	}
	return targets, nil
}

// transferable says that a transfer which fails so is dead-lettered: its target is
// disabled or full. One that is gone or takes no such message fails the transaction
// (spec messaging 1.7).
func transferable(err error) bool {
	return errors.Is(err, messaging.ErrEntityDisabled) || errors.Is(err, messaging.ErrQuotaExceeded)
}

// via is the entity through which the transaction sends to others; nil when it keeps
// no transfers.
func (t *transaction) via() *entity {
	if e := t.ns.entities[t.scope]; e != nil && e.transfer != nil {
		return e
	}
	return nil
}

// deliver has the messages of a step arrive, or dead-letters them as transfers that
// failed.
func (t *transaction) deliver(op *operation, e *entity, s *step) {
	for i, c := range s.messages {
		to := e
		if to == nil {
			via := t.via()
			m := via.message(op, c, past{})
			var failure verdict
			if to, failure = op.target(s.entity, m); to == nil {
				via.hold(op, m, failure)
				continue
			}
		}
		switch {
		case s.numbers != nil:
			to.scheduleAs(op, c, s.numbers[i])
			to.main.tick(op) // a time that has come
		case c.ScheduledEnqueueTime.After(op.now):
			to.schedule(op, c)
		default:
			to.arrive(op, c, past{})
		}
	}
}

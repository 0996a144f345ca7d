package servicebus

import (
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// verdict is why a message is dead-lettered. Both texts become application
// properties; empty ones do not.
type verdict struct{ reason, description string }

// The reasons that the service writes (spec messaging 1.4). The descriptions are
// Redeliver's, except for the delivery limit.
var (
	headerVerdict    = verdict{"HeaderSizeExceeded", "The size quota for this stream has been exceeded: the header is larger than 64 KB."}
	expiredVerdict   = verdict{"TTLExpiredException", "The message expired and was dead lettered."}
	noSessionVerdict = verdict{"Session ID is null.", "A session-enabled entity does not accept a message whose session identifier is null."}
)

func maxDeliveries(n int64) verdict {
	return verdict{"MaxDeliveryCountExceeded", fmt.Sprintf("Message could not be consumed after %d delivery attempts.", n)}
}

func maxHops(n int) verdict {
	return verdict{"MaxTransferHopCountExceeded", fmt.Sprintf("The maximum number of allowed hops when forwarding between entities is exceeded. This value is set to %d.", n)}
}

func tooLarge(e *entity, m *message) verdict {
	return verdict{"MessageSizeExceededException", fmt.Sprintf("The message of %d bytes is larger than the messaging entity %q allows.", m.size, e.name())}
}

// past is the history of a message that comes to an entity.
type past struct {
	hops   int
	enqSeq int64  // 0: it was not forwarded
	source string // entity in which it was dead-lettered
	nested int    // forwardings in this operation, those out of dead-letter queues included
	was    was
}

// was is the queue and the number that a message had before it got another number, for the
// journal.
type was struct {
	queue  string
	number int64
}

// fields say it; nil: it is new.
func (w was) fields() []journal.Field {
	if w.number == 0 {
		return nil
	}
	return []journal.Field{{Key: "previous_entity", Value: w.queue}, {Key: "previous_number", Value: strconv.FormatInt(w.number, 10)}}
}

// maxNested ends circles of dead-letter queues that forward to each other, whose
// hops are not counted.
const maxNested = 32

// arrive is enter for what a sender or another entity gives, so that duplicates
// are told.
func (e *entity) arrive(op *operation, c *servicebus.Message, p past) {
	if e.duplicate(op, c) {
		op.note(journal.Record{Kind: journal.Enqueued, Source: e.main.name, MessageID: c.MessageID, Status: "duplicate"})
		return
	}
	e.enter(op, c, p)
}

// enter puts a message into a queue, or into those subscriptions of a topic that
// want it.
func (e *entity) enter(op *operation, c *servicebus.Message, p past) {
	e.use(op)
	if e.topic == nil {
		e.place(op, c, p)
		return
	}
	if p.enqSeq == 0 {
		p.enqSeq = e.main.nextSequence(op)
	}
	for _, s := range e.subscriptions {
		copies, failure := s.choose(c)
		for _, c := range copies {
			s.place(op, c, p)
		}
		if failure != nil && *s.subscription.DeadLetteringOnFilterEvaluationExceptions {
			s.bury(op, s.message(op, c, p), filterVerdict(failure))
		}
	}
}

// message makes a message of an entity out of content.
func (e *entity) message(op *operation, c *servicebus.Message, p past) *message {
	m := &message{
		content: c, size: sizeOf(c), seq: e.main.nextSequence(op), enqSeq: p.enqSeq,
		enqueued: op.now, hops: p.hops, source: p.source, nested: p.nested, was: p.was,
	}
	if life := e.life(c.TimeToLive); life > 0 {
		if at := op.now.Add(life); at.After(op.now) && at.Year() <= maxYear {
			m.expires = at
		}
	}
	return m
}

// maxYear: what ends later never ends, as in .NET's largest date.
const maxYear = 9999

// place puts a message into a queue or subscription that wants it.
func (e *entity) place(op *operation, c *servicebus.Message, p past) {
	m := e.message(op, c, p)
	switch {
	case headerSize(c) > servicebus.MaxHeader:
		e.bury(op, m, headerVerdict)
	case m.size > e.maxMessage: // an action has made it so
		e.bury(op, m, tooLarge(e, m))
	case e.requiresSession && c.SessionID == nil:
		e.bury(op, m, noSessionVerdict)
	case e.forwardTo != "":
		e.forward(op, m)
	default:
		op.note(journal.Record{Kind: journal.Enqueued, Source: e.main.name, MessageID: c.MessageID, MessageNumber: m.seq, Fields: m.was.fields()})
		e.main.add(op, m)
	}
}

// forward sends a message that is in no queue on to the target of its entity.
// A message that cannot go on stays in the transfer dead-letter queue (spec
// messaging 1.7).
func (e *entity) forward(op *operation, m *message) {
	if m.hops >= e.ns.opts.MaxForwardHops {
		e.hold(op, m, maxHops(e.ns.opts.MaxForwardHops))
		return
	}
	target, failure := op.target(e.forwardTo, m)
	if failure != (verdict{}) {
		e.hold(op, m, failure)
		return
	}
	op.note(journal.Record{Kind: journal.Forwarded, Source: e.main.name, Target: target.main.name, MessageID: m.content.MessageID, MessageNumber: m.seq, Fields: m.was.fields()})
	target.arrive(op, m.content, past{hops: m.hops + 1, enqSeq: m.firstSeq(), source: m.source, nested: m.nested + 1, was: was{e.main.name, m.seq}})
}

// target returns the entity of that name if it can take the message.
func (op *operation) target(name string, m *message) (*entity, verdict) {
	target := op.ns.entities[lower(name)]
	switch {
	case target == nil:
		return nil, verdict{"MessagingEntityNotFoundException", fmt.Sprintf("The messaging entity %q could not be found.", name)}
	case !target.sends():
		return nil, verdict{"MessagingEntityDisabledException", fmt.Sprintf("The messaging entity %q is disabled.", name)}
	case m.size > target.maxMessage:
		return nil, tooLarge(target, m)
	case target.full(m.size):
		return nil, verdict{"QuotaExceededException", fmt.Sprintf("The maximum entity size of %q has been reached.", name)}
	}
	return target, verdict{}
}

// hold puts a message that could not be forwarded into the transfer dead-letter
// queue, or where the switch wants it.
func (e *entity) hold(op *operation, m *message, why verdict) {
	if e.ns.opts.ForwardFailureToDLQ {
		e.bury(op, m, why)
		return
	}
	e.transfer.rest(op, m, why)
}

// bury dead-letters a message that is in no queue.
func (e *entity) bury(op *operation, m *message, why verdict) {
	if e.forwardDead == "" || m.nested >= maxNested {
		e.dead.rest(op, m, why)
		return
	}
	target, failure := op.target(e.forwardDead, m)
	if failure != (verdict{}) {
		e.dead.rest(op, m, why)
		return
	}
	why.mark(m)
	noteDead(op, e, e.dead, m, why)
	op.note(journal.Record{Kind: journal.Forwarded, Source: e.dead.name, Target: target.main.name, MessageID: m.content.MessageID, MessageNumber: m.seq})
	target.arrive(op, m.content, past{hops: m.hops, enqSeq: m.firstSeq(), source: e.name(), nested: m.nested + 1, was: was{e.dead.name, m.seq}})
}

// rest puts a message into a sub-queue, where it stays until it is completed.
func (q *queue) rest(op *operation, m *message, why verdict) {
	why.mark(m)
	m.expires = time.Time{}
	m.state = servicebus.StateActive
	noteDead(op, q.owner, q, m, why)
	q.add(op, m)
}

// mark writes the reason into the message.
func (v verdict) mark(m *message) {
	properties := map[string]any{}
	if v.reason != "" {
		properties[servicebus.DeadLetterReason] = v.reason
	}
	if v.description != "" {
		properties[servicebus.DeadLetterErrorDescription] = v.description
	}
	m.merge(properties)
}

func noteDead(op *operation, e *entity, to *queue, m *message, why verdict) {
	op.note(journal.Record{
		Kind: journal.DeadLettered, Source: e.name(), Target: to.name, MessageID: m.content.MessageID, MessageNumber: m.seq,
		DeliveryCount: m.count, Cause: why.reason, Error: why.description, Fields: m.was.fields(),
	})
}

// drain sends what can be taken in an entity on, after it has got a target.
func (e *entity) drain(op *operation) {
	var there []*message
	e.main.all.from(0, func(m *message) bool {
		if m.state == servicebus.StateActive && !m.locked() {
			there = append(there, m)
		}
		return true
	})
	for _, m := range there {
		if m.expired(op.now) { // and no receiver has pulled since
			e.main.expire(op, m)
			continue
		}
		e.main.remove(op, m)
		e.forward(op, m)
	}
}

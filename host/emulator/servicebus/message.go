package servicebus

import (
	"maps"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// message is one message in one queue. The sender's part is content. Copies in
// several subscriptions share it, and it is never changed in place.
type message struct {
	content *servicebus.Message
	size    int // bytes that it counts for

	seq      int64
	enqSeq   int64 // in the entity from which it was forwarded first; 0: it was not
	enqueued time.Time
	expires  time.Time // zero: never
	count    int64     // failed deliveries
	state    servicebus.State
	hops     int    // forwardings so far
	source   string // entity in which it was dead-lettered, once forwarded
	nested   int    // forwardings in the operation that brought it; see maxNested
	was      was    // before it came, until it is in a queue

	token   bindings.GUID // zero: not locked
	until   time.Time     // of its own lock; a session's message has the session's
	outside bool          // the lock is held by a client in real time
	session *session      // nil in queues without sessions

	page                           *page // in the queue's ledger
	inLocks, inExpiry, inScheduled int
	inSessionFree, inSessionLocked int
}

// firstSeq is the number that the message had where it came in.
func (m *message) firstSeq() int64 {
	if m.enqSeq != 0 {
		return m.enqSeq
	}
	return m.seq
}

func (m *message) locked() bool { return m.token != bindings.GUID{} }

// received copies m out.
func (m *message) received() *servicebus.Received {
	r := &servicebus.Received{
		Message:                *m.content,
		SequenceNumber:         m.seq,
		EnqueuedSequenceNumber: m.enqSeq,
		EnqueuedTime:           m.enqueued,
		ExpiresAt:              m.expires,
		DeliveryCount:          m.count,
		State:                  m.state,
		DeadLetterSource:       m.source,
	}
	if m.locked() {
		r.LockToken, r.LockedUntil = m.token, m.lockedUntil()
	}
	return r
}

func (m *message) lockedUntil() time.Time {
	if m.session != nil {
		return m.session.until
	}
	return m.until
}

// peeked is received without the lock.
func (m *message) peeked() *servicebus.Received {
	r := m.received()
	r.LockToken, r.LockedUntil = bindings.GUID{}, time.Time{}
	return r
}

// merge changes the application properties of a message that is in no queue, in a
// copy of its content.
func (m *message) merge(properties map[string]any) {
	if len(properties) == 0 {
		return
	}
	c := *m.content
	c.ApplicationProperties = make(map[string]any, len(c.ApplicationProperties)+len(properties))
	maps.Copy(c.ApplicationProperties, m.content.ApplicationProperties)
	maps.Copy(c.ApplicationProperties, properties)
	if c.Wire != nil {
		w := *c.Wire
		w.ApplicationPropertiesChanged = true
		c.Wire = &w
	}
	m.content, m.size = &c, sizeOf(&c)
}

// editable copies content for an action that may change everything in it.
func editable(m *servicebus.Message) *servicebus.Message {
	c := *m
	c.ApplicationProperties = map[string]any{}
	maps.Copy(c.ApplicationProperties, m.ApplicationProperties)
	if c.Wire != nil {
		w := *c.Wire
		w.PropertiesChanged, w.ApplicationPropertiesChanged = true, true
		c.Wire = &w
	}
	return &c
}

// sizeOf is how many bytes a message counts for: the bytes of its sections or, when
// it did not come over AMQP, about as many.
func sizeOf(m *servicebus.Message) int {
	w := m.Wire
	if w == nil {
		return 64 + len(m.Body) + plainSize(m) + headerSize(m)
	}
	n := w.Size()
	if w.PropertiesChanged {
		n += max(plainSize(m)-len(w.Properties), 0)
	}
	if w.ApplicationPropertiesChanged {
		n += headerSize(m) - len(w.ApplicationProperties)
	}
	return n
}

// plainSize is the size of the fields that are properties in AMQP.
func plainSize(m *servicebus.Message) int {
	n := len(m.MessageID) + len(m.CorrelationID) + len(m.Subject) + len(m.To) + len(m.ReplyTo) + len(m.ContentType)
	for _, s := range []*string{m.SessionID, m.ReplyToSessionID, m.PartitionKey, m.TransactionPartitionKey} {
		if s != nil {
			n += len(*s)
		}
	}
	return n
}

// headerSize is the size of the application properties in bytes.
func headerSize(m *servicebus.Message) int {
	if w := m.Wire; w != nil && !w.ApplicationPropertiesChanged {
		return len(w.ApplicationProperties)
	}
	n := 0
	for k, v := range m.ApplicationProperties {
		n += 2 + len(k)
		switch v := v.(type) {
		case string:
			n += 5 + len(v)
		case []byte:
			n += 5 + len(v)
		case messaging.Encoded:
			n += len(v)
		default:
			n += 9
		}
	}
	return n
}

// lower is the key of a name.
func lower(name string) string { return strings.ToLower(name) }

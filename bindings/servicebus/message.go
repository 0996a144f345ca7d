package servicebus

import (
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// Limits of a message (spec messaging 1.4, 1.11).
const (
	// MaxHeader is the encoded size of the application properties in
	// bytes. A message beyond it is accepted and goes to the dead-letter queue.
	MaxHeader = 64 << 10
	// MaxDeadLetterText is the length of a dead-letter reason or description in
	// characters.
	MaxDeadLetterText = 4096
)

// Application properties that the service sets.
const (
	// DeadLetterReason says why a message was dead-lettered.
	DeadLetterReason = "DeadLetterReason"
	// DeadLetterErrorDescription says it in a sentence.
	DeadLetterErrorDescription = "DeadLetterErrorDescription"
	// RuleName names the rule whose action made this copy.
	RuleName = "RuleName"
)

// Message is a message as it is sent. The zero value is an empty
// message.
type Message struct {
	// Body is the payload: the bytes of the data sections, or the text of a string
	// value. It may alias Wire.Body.
	Body []byte

	MessageID        string  // empty: the service makes one
	SessionID        *string // nil: none; the empty string is a legal session
	ReplyToSessionID *string
	CorrelationID    string
	Subject          string // also called label
	To               string
	ReplyTo          string
	ContentType      string

	PartitionKey            *string
	TransactionPartitionKey *string // also called via partition key

	// TimeToLive is the life of the message from its enqueued time, cut to the
	// entity's default. Zero: the entity's default.
	TimeToLive time.Duration

	// ScheduledEnqueueTime delays the activation. Zero, or not in the future: none.
	ScheduledEnqueueTime time.Time

	// ApplicationProperties are the sender's own. Values are nil, bool, the sized
	// integers and floats, string, []byte, time.Time, GUID, or
	// messaging.Encoded for what Go has no plain type for.
	ApplicationProperties map[string]any

	// Wire holds the sections of the AMQP message as they came, for the AMQP server
	// that sends it on. Nil when the message did not come over AMQP. Receivers use
	// the plain fields.
	Wire *messaging.Wire
}

// State is the state of a message that receivers are told; a locked
// message is active. The numbers are the values of x-opt-message-state.
type State int32

// The states.
const (
	StateActive    State = 0
	StateDeferred  State = 1
	StateScheduled State = 2
)

// String returns the state's name in lower case.
func (s State) String() string {
	switch s {
	case StateActive:
		return "active"
	case StateDeferred:
		return "deferred"
	case StateScheduled:
		return "scheduled"
	}
	return fmt.Sprintf("state(%d)", int32(s))
}

// Received is a message as Receive and Peek return it. It is a copy:
// changing its fields changes nothing in the service. The bytes of the body and
// the wire sections, and the map of application properties, are shared with
// other receivers of the message and must not be changed.
type Received struct {
	Message

	// SequenceNumber is unique in the entity and ascending.
	SequenceNumber int64
	// EnqueuedSequenceNumber is the number that the message had in the topic or queue
	// that it came to first; 0 if that is this entity.
	EnqueuedSequenceNumber int64

	EnqueuedTime time.Time
	ExpiresAt    time.Time     // zero: never
	LockedUntil  time.Time     // zero without a lock: peeked, or received and deleted
	LockToken    bindings.GUID // zero without a lock

	// DeliveryCount is the number of deliveries that have failed so far: 0 in the
	// first delivery. It is the header of the wire and what JavaScript and Python
	// show; .NET, Go and the metadata of a trigger show DeliveryNumber.
	DeliveryCount int64

	State State

	// DeadLetterSource is the entity in which a message was dead-lettered, once it
	// has been forwarded from the dead-letter queue; otherwise empty.
	DeadLetterSource string
}

// DeliveryNumber is the number of this delivery, from 1. This is the one place
// that knows of the difference (spec messaging 0, rule 2); the copy in a
// dead-letter queue after N failed deliveries therefore shows N+1.
func (m *Received) DeliveryNumber() int64 { return m.DeliveryCount + 1 }

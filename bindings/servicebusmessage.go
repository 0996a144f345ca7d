package bindings

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Limits of a message (spec messaging 1.4, 1.11).
const (
	// MaxServiceBusID is the length of a MessageID, SessionID or PartitionKey in
	// characters.
	MaxServiceBusID = 128
	// MaxServiceBusHeader is the encoded size of the application properties in
	// bytes. A message beyond it is accepted and goes to the dead-letter queue.
	MaxServiceBusHeader = 64 << 10
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
	// ServiceBusRuleName names the rule whose action made this copy.
	ServiceBusRuleName = "RuleName"
)

// ServiceBusMessage is a message as it is sent. The zero value is an empty
// message.
type ServiceBusMessage struct {
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
	// ServiceBusEncoded for what Go has no plain type for.
	ApplicationProperties map[string]any

	// Wire holds the sections of the AMQP message as they came, for the door that
	// sends it on. Nil when the message did not come over AMQP. Whoever receives
	// from the service uses the plain fields.
	Wire *ServiceBusWire
}

// GUID is a universally unique identifier, with its bytes in the order in which
// they are printed (RFC 9562). AMQP delivery tags and .NET use another order;
// that is the door's business.
type GUID [16]byte

// String returns the identifier in .NET's form D, in lower case.
func (g GUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], g[0:4])
	hex.Encode(b[9:13], g[4:6])
	hex.Encode(b[14:18], g[6:8])
	hex.Encode(b[19:23], g[8:10])
	hex.Encode(b[24:36], g[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// ParseGUID reads an identifier in form D, with or without braces.
func ParseGUID(s string) (GUID, error) {
	g, err := parseGUID(s)
	return g, err
}

// ServiceBusEncoded is a value in its AMQP encoding, constructor and all: a
// described type (timespan, URI, date with offset), a decimal, a character. The
// service passes it on byte for byte; in a filter it compares with nothing.
type ServiceBusEncoded []byte

// ServiceBusWire holds the sections of an AMQP message in their encoding, each
// with its descriptor; an empty one was not there. The service keeps them, passes
// them on and never looks inside; neither does it change them: receivers of one
// message share them.
//
// When the service has changed a field that a section repeats, it says so in the
// flags, and the door encodes that section anew from the plain fields.
type ServiceBusWire struct {
	Header                []byte // durable, priority; ttl and delivery count are not read from here
	Annotations           []byte // what the door wants to keep of them
	Properties            []byte
	ApplicationProperties []byte
	Body                  []byte // one or several sections
	Footer                []byte

	// PropertiesChanged: the plain fields differ from Properties, which still
	// tells what they do not have (user id, creation time, ...).
	PropertiesChanged bool
	// ApplicationPropertiesChanged: the map is what counts.
	ApplicationPropertiesChanged bool

	// DeliveryAnnotations are the sender's, without those that the service sets.
	DeliveryAnnotations []byte
}

// Size is the number of bytes of all sections.
func (w *ServiceBusWire) Size() int {
	return len(w.Header) + len(w.Annotations) + len(w.Properties) + len(w.ApplicationProperties) + len(w.Body) + len(w.Footer) + len(w.DeliveryAnnotations)
}

// ServiceBusState is the state of a message that receivers are told; a locked
// message is active. The numbers are those of x-opt-message-state.
type ServiceBusState int32

// The states.
const (
	ServiceBusActive    ServiceBusState = 0
	ServiceBusDeferred  ServiceBusState = 1
	ServiceBusScheduled ServiceBusState = 2
)

// String returns the state's name in lower case.
func (s ServiceBusState) String() string {
	switch s {
	case ServiceBusActive:
		return "active"
	case ServiceBusDeferred:
		return "deferred"
	case ServiceBusScheduled:
		return "scheduled"
	}
	return fmt.Sprintf("state(%d)", int32(s))
}

// ServiceBusReceived is a message as Receive and Peek return it. It is a copy:
// changing its fields changes nothing in the service. The bytes of the body and
// the wire sections, and the map of application properties, are shared with
// other receivers of the message and must not be changed.
type ServiceBusReceived struct {
	ServiceBusMessage

	// SequenceNumber is unique in the entity and ascending.
	SequenceNumber int64
	// EnqueuedSequenceNumber is the number that the message had in the entity from
	// which it was forwarded here; otherwise its sequence number.
	EnqueuedSequenceNumber int64

	EnqueuedTime time.Time
	ExpiresAt    time.Time // zero: never
	LockedUntil  time.Time // zero without a lock: peeked, or received and deleted
	LockToken    GUID      // zero without a lock

	// DeliveryCount is the number of deliveries that have failed so far: 0 in the
	// first delivery. It is the header of the wire and what JavaScript and Python
	// show; .NET, Go and the metadata of a trigger show DeliveryNumber.
	DeliveryCount int64

	State ServiceBusState

	// DeadLetterSource is the entity in which a message was dead-lettered, once it
	// has been forwarded from the dead-letter queue; otherwise empty.
	DeadLetterSource string
}

// DeliveryNumber is the number of this delivery, from 1. This is the one place
// that knows of the difference (spec messaging 0, rule 2); the copy in a
// dead-letter queue after N failed deliveries therefore shows N+1.
func (m *ServiceBusReceived) DeliveryNumber() int64 { return m.DeliveryCount + 1 }

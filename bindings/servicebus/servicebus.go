// Package servicebus is the contract of a Service Bus namespace: messages, receivers,
// sessions and settlement, transactions, the entities and their administration.
//
// Read [Namespace] first, then [Receiver].
package servicebus

import (
	"context"
	"time"
)

// Namespace is one Service Bus namespace, as those see it who send and receive.
//
// Entities are named by path, without regard to case: a queue or a topic by its
// name, a subscription as "topic/Subscriptions/name", and their sub-queues by
// the suffixes "/$DeadLetterQueue" and "/$Transfer/$DeadLetterQueue"; see
// [ParsePath]. Sends go to queues and topics, receivers belong to
// queues, subscriptions and sub-queues.
//
// All methods may be called concurrently. A refusal of the service is a
// [*messaging.Error], for which errors.Is holds with the conditions of this
// package; a context's error passes unchanged; everything else is a failure
// of the transport. Messages given and returned are not shared with the
// service, except for the bytes of body and wire sections, which must not
// change after they were sent.
//
// Reference: spec messaging 1; docs, Service Bus messaging.
type Namespace interface {
	// Send adds messages to a queue or a topic, all of them or none, in order. One
	// with a ScheduledEnqueueTime in the future is scheduled. A message that
	// duplicate detection drops counts as sent, and so does one that no
	// subscription of a topic wants.
	//
	// It fails with bindings.ErrNotFound, messaging.ErrEntityDisabled, messaging.ErrNotAllowed (a sub-queue or
	// a subscription; a message without a session where the backend insists on
	// one; a partition key that is not the session's), bindings.ErrTooLarge, messaging.ErrQuotaExceeded and bindings.ErrOutOfRange (identifiers of more
	// than 128 characters).
	Send(ctx context.Context, entity string, messages ...*Message) error

	// Schedule adds messages that become active at a time, all or none, and
	// returns the sequence numbers by which they can be cancelled. On activation
	// each gets a new sequence number. A time that is not in the future activates
	// at once. It fails as Send does.
	Schedule(ctx context.Context, entity string, at time.Time, messages ...*Message) ([]int64, error)

	// CancelScheduled removes scheduled messages, all of them or, with
	// bindings.ErrMessageNotFound, none.
	CancelScheduled(ctx context.Context, entity string, sequenceNumbers ...int64) error

	// Receiver opens a receiver on a queue, a subscription or a sub-queue. It
	// fails with bindings.ErrNotFound, messaging.ErrEntityDisabled, and with messaging.ErrNotAllowed for an
	// entity that requires sessions (its sub-queues do not) and for a topic. Nil
	// options mean peek-lock.
	Receiver(ctx context.Context, source string, opts *ReceiverOptions) (Receiver, error)

	// AcceptSession locks a session of a queue or subscription that requires
	// sessions, and opens a receiver on it. A named session is locked even if it
	// has no message and never had one; when another receiver has it the error is
	// messaging.ErrSessionLocked, at once. Without a name it is the next session
	// that is free and has an active message; when none comes within opts.Wait the
	// error is messaging.ErrTimeout. On an entity without sessions it is
	// messaging.ErrNotAllowed. Nil options mean the next session, and waiting
	// without end.
	AcceptSession(ctx context.Context, source string, opts *SessionOptions) (Session, error)
}

// ReceiveMode says what happens to a message that is handed out.
type ReceiveMode int

// The receive modes.
const (
	// PeekLock locks the message until it is settled or the lock ends.
	PeekLock ReceiveMode = iota
	// ReceiveAndDelete removes it at once.
	ReceiveAndDelete
)

// ReceiverOptions changes how a receiver works.
type ReceiverOptions struct {
	Mode ReceiveMode

	// RealTime says that the messages go to a client of an AMQP server,
	// which lives in real time. An embedded service on a virtual clock then
	// does not move time to the end of these locks, nor of this receiver's
	// waits. The cloud ignores it.
	RealTime bool

	// Transfers says that the receiver of messages from Receive, with
	// ReceiveAndDelete, reports the outcome of each: see [Link.Transferred].
	Transfers bool
}

// SessionOptions says which session to accept.
type SessionOptions struct {
	ReceiverOptions

	// SessionID names the session; nil is the next free one. The empty string is a
	// legal name.
	SessionID *string

	// Wait limits the wait for the next session. Zero does not wait;
	// messaging.Forever waits until the context ends.
	Wait time.Duration
}

// Receiver receives from one source and settles what it received.
//
// Settling a message whose lock has ended, or that was settled before, fails
// with messaging.ErrLockLost, on a session receiver with messaging.ErrSessionLockLost when the
// session's lock is gone. In receive-and-delete mode every settlement fails with
// messaging.ErrNotAllowed. After Close every call fails with messaging.ErrClosed, except that a
// plain receiver's messages can be settled by another receiver of the source
// (spec messaging 1.2: the lock token counts, not the link).
type Receiver interface {
	Settler

	// Source is the path from which it receives, with entity names as they were
	// created.
	Source() string

	// Receive returns up to n messages in order of their sequence numbers. It
	// returns as soon as there is at least one. When none has come within wait it
	// returns none and no error; zero does not wait, messaging.Forever waits until
	// ctx ends. A waiting Receive fails when the entity is deleted or disabled,
	// and with messaging.ErrSessionLockLost when its session's lock ends. A client whose link
	// is lost opens another one and goes on waiting, or fails with bindings.ErrUnreachable;
	// it never returns nothing before its time.
	Receive(ctx context.Context, n int, wait time.Duration) ([]*Received, error)

	// ReceiveDeferred returns deferred messages by sequence number, in the order
	// asked for, locked as Receive does. When one of them is not there, or not
	// deferred, or locked, it returns none and bindings.ErrMessageNotFound.
	ReceiveDeferred(ctx context.Context, sequenceNumbers ...int64) ([]*Received, error)

	// Peek returns up to n messages of any state (locked, deferred, scheduled,
	// perhaps expired) with sequence numbers of from or more, ascending. It
	// changes nothing; the messages carry no lock. A session receiver peeks in
	// its session.
	Peek(ctx context.Context, from int64, n int) ([]*Received, error)

	// Close ends the receiver; a Receive that waits fails with messaging.ErrClosed. The locks
	// of a plain receiver go on. A session is given free, and messages of it that
	// are not settled are released uncounted. A second Close does nothing. When Close
	// fails the receiver has ended nevertheless, and its locks go on.
	Close(ctx context.Context) error
}

// Settler settles messages that a receiver has received, and renews their locks. Its
// errors are described at [Receiver].
type Settler interface {
	// Complete removes the message.
	Complete(ctx context.Context, m *Received) error

	// Abandon unlocks the message at once, one failed delivery later, and merges
	// properties into its application properties. At the entity's maximum of
	// deliveries the message goes to the dead-letter queue. A deferred message
	// stays deferred.
	Abandon(ctx context.Context, m *Received, properties map[string]any) error

	// Defer sets the message aside: from now on only ReceiveDeferred returns it.
	// It counts as a failed delivery (spec messaging 1.3) and never dead-letters.
	Defer(ctx context.Context, m *Received, properties map[string]any) error

	// DeadLetter moves the message to the dead-letter queue. Reason and description
	// (up to 4096 characters each, bindings.ErrOutOfRange beyond) become the application
	// properties DeadLetterReason and DeadLetterErrorDescription; properties are
	// merged first. In a sub-queue it is messaging.ErrNotAllowed, and the message stays
	// locked.
	DeadLetter(ctx context.Context, m *Received, reason, description string, properties map[string]any) error

	// Release unlocks the message as if it had not been delivered: the count stays.
	// Backends without it fail with messaging.ErrNotImplemented.
	Release(ctx context.Context, m *Received) error

	// Renew makes the lock end one lock duration from now, sets m.LockedUntil and
	// returns it. On a session receiver it is messaging.ErrNotAllowed: RenewSession.
	Renew(ctx context.Context, m *Received) (time.Time, error)
}

// Session is a receiver on one session, which it has locked. All its messages are
// locked as long as the session is; they come in strict order.
type Session interface {
	Receiver

	// SessionID is the session's name.
	SessionID() string

	// LockedUntil is when the session's lock ends, as far as this receiver knows.
	LockedUntil() time.Time

	// RenewSession makes the lock end one lock duration from now and returns that
	// time; messaging.ErrSessionLockLost when it has ended before.
	RenewSession(ctx context.Context) (time.Time, error)

	// State returns the session's state, nil when there is none.
	State(ctx context.Context) ([]byte, error)

	// SetState replaces it; nil or an empty one clears it. bindings.ErrTooLarge beyond the maximum size of
	// one message.
	SetState(ctx context.Context, state []byte) error
}

package servicebus

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// Management is the part of a namespace that an AMQP server needs beside
// sending, receiving and administration: the operations of an entity's
// $management node. They know messages by lock token and sessions by name,
// of any receiver. Namespaces that can be served implement it beside
// Namespace and Admin; the three see the same entities.
//
// All methods may be called concurrently and fail as the methods of Namespace do.
// Source is a path as for Receiver.
//
// An AMQP server opens receivers with ReceiverOptions.RealTime. A link with
// credit for n messages is a Receive(ctx, n, messaging.Forever); to take the
// credit back, end ctx. Messages that Receive returned and the link could no
// longer send go back with Settle and Release, uncounted. A link that is
// detached closes its receiver; one that vanishes with its connection ends it by
// [Link.Vanish].
//
// Reference: spec messaging 3.6 and 3.7.
type Management interface {
	SessionManagement

	// Settle settles locked messages of the source, in order. Every token
	// is tried; the error is the first one. With a session id it is
	// messaging.ErrSessionLockLost when that session is not locked.
	Settle(ctx context.Context, source string, how Settlement, tokens ...bindings.GUID) error

	// SettleEach settles locked messages of the source, in order, each in its own way,
	// and returns for each what Settle would. A durable namespace writes them as one
	// change: together they cost as much as one. Unless session is nil, all fail with
	// messaging.ErrSessionLockLost when it has lost its lock.
	SettleEach(ctx context.Context, source string, session Session, list []Disposition) []error

	// RenewLocks makes locks end one lock duration from now and returns the times
	// in the order of the tokens. When one lock is lost none is renewed.
	RenewLocks(ctx context.Context, source string, tokens ...bindings.GUID) ([]time.Time, error)

	// ScheduleEach is Namespace's Schedule with a time of its own for each message, its
	// ScheduledEnqueueTime: all are scheduled, or none. A time that is zero or has passed
	// enqueues the message at once.
	ScheduleEach(ctx context.Context, entity string, messages ...*Message) ([]int64, error)

	// ReceiveDeferred is Receiver.ReceiveDeferred for callers without a
	// receiver. On an entity that requires sessions, session must name one that
	// is locked.
	ReceiveDeferred(ctx context.Context, source string, session *string, opts ReceiverOptions, sequenceNumbers ...int64) ([]*Received, error)

	// Peek is Receiver's; on a topic it shows scheduled messages. A
	// session that is not nil shows that session's only.
	Peek(ctx context.Context, source string, session *string, from int64, n int) ([]*Received, error)
}

// SessionManagement is what a $management node can do with sessions, known by name.
type SessionManagement interface {
	// RenewSession is Session's, by name.
	RenewSession(ctx context.Context, source, session string) (time.Time, error)

	// SessionState returns a session's state, nil when there is none. The session
	// need not be locked.
	SessionState(ctx context.Context, source, session string) ([]byte, error)

	// SetSessionState replaces it; nil or an empty one clears it.
	SetSessionState(ctx context.Context, source, session string, state []byte) error

	// Sessions lists up to top names of sessions after the first skip, sorted: with a
	// changedAfter of year 9999 or later the sessions with active messages or a state,
	// otherwise the sessions whose state was set after that time.
	Sessions(ctx context.Context, source string, changedAfter time.Time, skip, top int) ([]string, error)
}

// Action is one way to settle a message.
type Action int

// The actions. See the methods of Receiver.
const (
	Complete Action = iota
	Abandon
	Defer
	DeadLetter
	Release
)

// Settlement says how to settle.
type Settlement struct {
	Action Action

	Reason, Description string         // of DeadLetter
	Properties          map[string]any // merged by abandon, defer and dead-letter

	SessionID *string // the session that the caller claims to hold; nil: none named
}

// Disposition is one of several settlements.
type Disposition struct {
	LockToken bindings.GUID
	Settlement
}

// Link is implemented by the receivers of a Management's namespace, session
// receivers included.
type Link interface {
	Receiver

	// Vanish ends the receiver without a word, as a broken connection does: what
	// it has locked stays locked until the locks end, which counts as a failed
	// delivery.
	Vanish()

	// Transferred says of messages that a receiver with the option Transfers has received
	// and deleted that they have been given to the client.
	Transferred(messages ...*Received)

	// GiveBack puts such messages back that could not be given to the client: they are in
	// their places again, uncounted. Both may be called after Close, once for a message.
	GiveBack(ctx context.Context, messages ...*Received) error

	// Lost waits until the receiver cannot go on, and returns why: its entity was
	// deleted or disabled, or its session's lock has ended. It returns ctx's error
	// when ctx ends first, and messaging.ErrClosed after Close or Vanish. It never makes
	// virtual time move.
	Lost(ctx context.Context) error
}

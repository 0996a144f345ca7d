// Package queue is the contract of storage queues: messages with a visibility timeout,
// a dequeue count and pop receipts, their names and the encoding of their bodies.
//
// Read [Queue] first: it is the model for the contract of every service.
package queue

import (
	"context"
	"errors"
	"time"
)

// Limits of the queue service (spec storage 16.1; docs: Queue Service REST).
const (
	MaxMessageText       = 64 << 10           // bytes of UTF-8 in one message
	MaxReceive           = 32                 // messages in one Receive or Peek
	MaxVisibilityTimeout = 7 * 24 * time.Hour // for Put, Receive and Update
	DefaultMessageTTL    = 7 * 24 * time.Hour // when PutOptions.TTL is zero
	NeverExpires         = time.Duration(-1)  // as PutOptions.TTL
	DefaultVisibility    = 30 * time.Second   // of a REST get that names none
)

// Account is the queue service of one storage account.
//
// All methods may be called concurrently. Queue does no I/O and does not fail:
// names are checked by the calls on the queue (bindings.ErrInvalidName).
type Account interface {
	// Queue returns a handle on the queue of that name, existing or not.
	Queue(name string) Queue
	// Queues lists the names of all queues, sorted.
	Queues(ctx context.Context) ([]string, error)
}

// Waker is implemented by a queue account that can tell at once that a
// message arrived. Embedded services do; the cloud does not (a listener finds
// the message by polling).
type Waker interface {
	// OnArrival calls wake each time a message put into queue becomes visible
	// for the first time, until stop is called. wake must not block.
	OnArrival(queue string, wake func()) (stop func())
}

// Foresight is implemented by a queue account that knows when the next message
// of a queue can be received. A listener then leaves out the polls that cannot find
// anything.
type Foresight interface {
	// NextVisible returns from when on the first message of a queue is visible, which
	// may be in the past, and false when the queue has no message.
	NextVisible(queue string) (from time.Time, ok bool)

	// OnVisibility calls changed after each operation, by whomever, that can bring
	// NextVisible forward, until stop is called. changed must not block. ok is false,
	// and nothing is ever called, when polls matter for another reason.
	OnVisibility(queue string, changed func()) (stop func(), ok bool)
}

// Heir is implemented by a queue account that outlives the programs that receive from it.
type Heir interface {
	// LeftInWork returns when the last of the messages of a queue is visible again that
	// somebody had in work when the account ended before; zero for none, as in an account
	// that begins. Whoever it was does not settle them any more.
	LeftInWork(queue string) time.Time
}

// Queue is one storage queue, as the service sees it: it keeps texts, counts
// dequeues and hands out locks. It knows nothing of poison (that is the
// listener's work) nor of encodings: a text is the characters inside the XML
// element.
//
// All methods may be called concurrently. None waits for a message to arrive. A
// call on a queue that does not exist fails with bindings.ErrNotFound, except
// Create and Exists. Errors other than the sentinels of this package are transport
// failures.
type Queue interface {
	Messages

	// Name is the queue's name.
	Name() string

	// Create makes the queue; a queue that exists already is no error.
	Create(ctx context.Context) error

	// Exists reports whether the queue exists.
	Exists(ctx context.Context) (bool, error)

	// Delete removes the queue and all messages in it.
	DeleteQueue(ctx context.Context) error

	// Clear removes every message.
	Clear(ctx context.Context) error

	// Count is the approximate number of messages, visible and invisible.
	Count(ctx context.Context) (int, error)
}

// Messages are the messages of a queue, for those who put, receive and settle them.
// Errors are described at [Queue].
type Messages interface {
	// Put adds a message. A nil options value means: visible at once, expiring
	// after DefaultMessageTTL. The returned message has ID, PopReceipt and
	// times; its receipt is valid for Update and Delete before any Receive.
	Put(ctx context.Context, text string, opts *PutOptions) (*Message, error)

	// Receive takes up to max (1 to 32) visible messages, each invisible for
	// the visibility timeout (1 s to 7 days) from now, its dequeue count one
	// higher, with a fresh pop receipt. It returns an empty slice when nothing
	// is visible. Messages come by the time at which they became visible, then
	// by insertion (S-13).
	Receive(ctx context.Context, max int, visibility time.Duration) ([]*Message, error)

	// Peek returns up to max (1 to 32) visible messages and changes nothing.
	// They carry no pop receipt and no next-visible time.
	Peek(ctx context.Context, max int) ([]*Message, error)

	// Update makes the message invisible for the visibility timeout (0 to 7
	// days) from now and returns it with its new receipt and next-visible time;
	// the old receipt is void. A non-nil text replaces the message's text. The
	// dequeue count does not change. A receipt stays valid after its lock ended
	// until another call receives the message.
	Update(ctx context.Context, id, popReceipt string, text *string, visibility time.Duration) (*Message, error)

	// Delete removes the message. The rules for the receipt are the same as for
	// Update.
	Delete(ctx context.Context, id, popReceipt string) error
}

// PutOptions changes how a message is added.
type PutOptions struct {
	// Visibility delays the first delivery: 0 to 7 days, less than TTL.
	Visibility time.Duration
	// TTL is the life of the message: 1 s or more, zero for DefaultMessageTTL,
	// NeverExpires for no end.
	TTL time.Duration
}

// Message is a message as Receive, Peek, Put and Update return it. It is a
// copy: changing it changes nothing in the service.
type Message struct {
	ID           string
	Text         string // raw wire text
	PopReceipt   string // empty from Peek
	DequeueCount int64  // 1 at the first Receive
	Inserted     time.Time
	Expires      time.Time // zero: never
	NextVisible  time.Time // zero from Peek
}

// ErrPopReceiptMismatch: another call received or updated the message since this
// receipt was issued (PopReceiptMismatch, S-6).
var ErrPopReceiptMismatch = errors.New("pop receipt mismatch")

// Package account is what the services of one storage account share: the options, the
// moments at which an operation can be made to fail, the settings that every service has,
// and the form of what is kept. Each service is a package of its own beside it (queues,
// blobs, tables), with its state under a mutex of its own; [Service] is what the account asks of
// them, and host/emulator/storage puts them together.
//
// Keys in a store begin with a byte that says what they hold. The services of an account
// share one store, so no two of them have the same byte.
package account

import (
	"sync"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Options changes how services behave. The zero value is good for use.
type Options struct {
	// Seed decides identifiers and receipts.
	Seed uint64

	// Record is told what a service did by itself: journal kinds enqueued,
	// expired, lock_renewed, lock_expired. Source is the queue, MessageID the
	// message. It is called without locks held, after the state has changed.
	// An update that hides a received message for at least as long as its
	// receive did counts as a renewal.
	Record func(journal.Record)

	// Fault is asked twice in every operation, and its error is the operation's
	// result: before, so that nothing happens, and after the effect, so that the
	// caller does not learn of it (storage.md E-5). It may wait.
	Fault func(FaultPoint) error
}

// FaultPoint is a moment at which an operation can be made to fail.
type FaultPoint struct {
	Op        string // the method's name in queue.Queue: "Put", "Delete", ...
	Queue     string
	MessageID string // of Update and Delete
	After     bool   // the operation has taken effect

	Container, Blob string // of an operation of blob.Container or Blob
	Table           string // of an operation of table.Table

	// Service is "blob" or "table" for an operation on none of these; empty: of the queues.
	Service string
}

// Points are the fault points of one operation, as [keep.Keeper.Operate] asks for them.
func (o *Options) Points(p FaultPoint) func(after bool) error {
	return func(after bool) error {
		if o.Fault == nil {
			return nil
		}
		p.After = after
		return o.Fault(p)
	}
}

// Service is one service of an account, for what happens to all of them together.
type Service interface {
	// Keeper writes the service's changes through, and Mutex guards its state.
	Keeper() *keep.Keeper
	Mutex() *sync.Mutex

	// Open goes on with what a store holds, and keeps the state there.
	Open(db *store.Store) error

	// Check returns why the service could not be read from r, nil when it can be.
	Check(r store.Reader) error

	// Copy copies the state. The copy never changes.
	Copy() (State, error)

	// Replacing works out how a copy becomes the state, with the mutex held and the
	// keeper ready. The function that it returns does it with a change that can be
	// written, and cannot fail. With follow no identifier is given twice: not one of the
	// copy's, and not one of the state that it replaces.
	Replacing(s State, follow bool) (func(c *keep.Change), error)
}

// State is a copy of a service's state. Nil is the state of a service without anything.
type State any

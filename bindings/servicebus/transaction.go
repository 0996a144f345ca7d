package servicebus

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// TransactionTimeout is how long a transaction may be open (docs: Service
// Bus transaction processing, time-out).
const TransactionTimeout = 2 * time.Minute

// Transactions begins transactions. A namespace whose clients have transactions
// implements it beside Management.
type Transactions interface {
	// Begin opens a transaction, which has to be ended by Commit or Rollback. After
	// TransactionTimeout it is rolled back. Via is the entity that it goes through; when it is
	// empty, or there is no such entity, the first operation gives it.
	Begin(ctx context.Context, via string) (Transaction, error)
}

// Transaction gathers sends and settlements that take effect together, by
// Commit, or not at all. Until then sent messages are invisible, and
// settled messages stay locked: a lock of their own does not end meanwhile,
// the lock of a session does.
//
// Its scope is one entity with its sub-queues, a topic with its subscriptions, whose
// name the first call gives. Sends may go further where through is set: they are
// transfers of the first entity, so that one whose target takes nothing is
// dead-lettered in the transfer dead-letter queue of the first entity.
//
// A call that fails has no effect, and the transaction can only be rolled back from
// then on: Commit does so and fails with messaging.ErrRolledBack. Receiving, renewing and peeking
// have no part in transactions. All methods may be called concurrently.
//
// Reference: spec messaging 3.6a.
type Transaction interface {
	// ID names the transaction. No other has the same name.
	ID() bindings.GUID

	// Open reports whether the transaction has not ended: by Commit, by Rollback, by its
	// time-out, or with the state of the service that it belongs to. It may be called from
	// outside the clock.
	Open() bool

	// Send is ServiceBus.Send.
	Send(ctx context.Context, entity string, through bool, messages ...*Message) error

	// ScheduleEach is Management.ScheduleEach. The numbers are good even before Commit.
	ScheduleEach(ctx context.Context, entity string, through bool, messages ...*Message) ([]int64, error)

	// CancelScheduled is ServiceBus.CancelScheduled; a message that the transaction itself
	// has scheduled is left out of it.
	CancelScheduled(ctx context.Context, entity string, through bool, sequenceNumbers ...int64) error

	// SetState is Session.SetState; Session.State returns the new one after Commit.
	SetState(ctx context.Context, session Session, state []byte) error

	// Settle is Management.Settle, but all tokens or none.
	Settle(ctx context.Context, source string, how Settlement, tokens ...bindings.GUID) error

	// Commit makes the transaction as one change, or not at all: then it fails with
	// messaging.ErrRolledBack, or after the time-out with messaging.ErrTimeout.
	Commit(ctx context.Context) error

	// Rollback drops all of it. It fails as Commit does when the time-out had come.
	Rollback(ctx context.Context) error
}

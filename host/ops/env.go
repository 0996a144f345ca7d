package ops

import (
	"context"
	"slices"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
)

// Env is what operations work on: a run of a host, with what only some runs have. An
// operation that needs what is nil is not offered.
type Env struct {
	// Host is the one of the app whose server was asked; its services and its journal are
	// those of all apps of the run.
	Host *host.Host

	// Turn runs f under the clock and returns when what f has made ready has run, for a caller
	// who moves the clock by hand; nil: the clock goes on by itself.
	Turn func(name string, f func())

	// Services are those that operations are about.
	Services []*Service

	// Secret is the secret that the run file also holds. With it the host proves who it is.
	Secret string

	// Pace sets the pace of the clock, or says why it may not be. Nil: any may be.
	Pace func(clock.Pace) error

	// End asks the host to end. It must return at once.
	End func()

	// Faults are those that the host asks about its operations (host.Options.Fault), and
	// Crash is where it is killed (host.Options.KillAt).
	Faults *faults.List
	Crash  *faults.Crash

	// Endpoints are where clients find the services; it is asked while an app runs. Nil: none.
	Endpoints func() []Endpoint
}

// Inside runs f under the host's clock, and goes on when the caller has gone.
func (e *Env) Inside(name string, f func(ctx context.Context) error) error {
	var err error
	turn := e.Turn
	if turn == nil {
		turn = e.Host.Clock().Inside
	}
	turn(name, func() { err = f(context.Background()) })
	return err
}

// Records shows the kept records of some kinds, in order.
func (e *Env) Records(visit func(*journal.Record), kinds ...journal.Kind) {
	var found []journal.Record
	for _, kind := range kinds {
		e.Host.Journal().FindKind(1, kind, func(rec *journal.Record) bool {
			found = append(found, *rec)
			return false
		})
	}
	slices.SortFunc(found, func(a, b journal.Record) int { return int(int64(a.Seq) - int64(b.Seq)) })
	for i := range found {
		visit(&found[i])
	}
}

package kinds

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/locks"
	"github.com/redeliver/redeliver/host/services"
	trigger "github.com/redeliver/redeliver/triggers/queue"
)

// Env is the part of a host that its kinds may use.
type Env struct {
	Clock       clock.Clock
	Journal     *journal.Journal
	Log         zerolog.Logger
	Root        context.Context // ends with the host
	Embedded    *services.Embedded
	Connections *services.Connections
	Seed        uint64 // of all chance
	Instance    string // names the host among those that share its storage
	Predictable bool   // what tests want: see host.Options

	// AppName names the app among several with these services; empty: there is one. First
	// says that no host had the services before this one.
	AppName string
	First   bool

	// Switches are what the services keep to while an app with its own switches is loaded.
	Switches func(own hostjson.Switches) hostjson.Switches

	// Durable is the HTTP management API of Durable Functions, whose addresses clients of
	// orchestrations are given.
	Durable *durabletask.API

	// Watcher tells listeners of queues what this host has put there.
	Watcher *trigger.Watcher

	// Go runs f in the background for as long as the host runs, which waits for it.
	Go func(name string, f func())

	// AwaitMade waits until a time, or until a service has something that
	// it had not. Time does not jump for it.
	AwaitMade func(ctx context.Context, until time.Time) error

	// GUIDs hands out n identifiers: the number of the first, and how the identifier
	// of a number and a seed is written.
	GUIDs func(n uint64) (first uint64, guid func(seed, n uint64) string)
}

// NewEnv returns an Env, with what kinds share among themselves.
func NewEnv(e Env) *Env {
	e.Watcher = trigger.NewWatcher()
	return &e
}

// Jitter returns a source of chance, uniform in [0, 1), that is another for each number.
// The generator is made on first use.
func (e *Env) Jitter(number uint64) func() float64 {
	var rng *rand.Rand
	return func() float64 {
		if rng == nil {
			rng = rand.New(rand.NewPCG(e.Seed, number))
		}
		return rng.Float64()
	}
}

// Generation is one loaded app that runs.
type Generation interface {
	ID() int
	App() *app.App

	// Functions are the functions that run, disabled ones among them.
	Functions() []*Function

	// Shared returns what the functions of the generation share under a key, made when
	// it is asked for first.
	Shared(key any, make func() any) any

	// Epoch is the present state of the embedded services.
	Epoch() *epoch.Epoch

	// Locks are the locks and timer statuses that this host shares with others
	// in its storage.
	Locks() *locks.Locks
}

// Function is one function of a generation, as its kind sees it.
type Function struct {
	*Env
	Generation
	Def    *app.Function
	Number int // position among the generation's functions

	// Served is the kind's own: to whom requests are brought.
	Served any
}

// Record returns a record about the function.
func (f *Function) Record(kind journal.Kind) journal.Record {
	return journal.Record{Kind: kind, Generation: f.ID(), Function: f.Def.Name, Trigger: f.Def.Kind.Type}
}

// AddInput adds what a call by hand was given to the metadata, under the name of the
// trigger's parameter (host: FunctionController.cs Invoke; observed, 4.1037).
func (f *Function) AddInput(metadata map[string]any, input string) {
	if _, member := metadata[f.Def.Trigger.Name]; !member && input != "" {
		metadata[f.Def.Trigger.Name] = input
	}
}

// Connection is the connection of a binding that names one, or of the kind's default.
func (f *Function) Connection(name, otherwise string) (appsettings.Connection, error) {
	if name == "" {
		name = otherwise
	}
	conn, ok := f.App().Settings.Connection(name)
	if !ok {
		return conn, appsettings.MissingConnection(name)
	}
	return conn, nil
}

// Queues returns the queue account that a connection names, "" for the host's own.
func (f *Function) Queues(connection string) (queue.Account, error) {
	conn, err := f.Connection(connection, "Storage")
	if err != nil {
		return nil, err
	}
	return f.Connections.Queues(conn)
}

// Blobs is Queues for blobs.
func (f *Function) Blobs(connection string) (blob.Account, error) {
	conn, err := f.Connection(connection, "Storage")
	if err != nil {
		return nil, err
	}
	return f.Connections.Blobs(conn)
}

// Tables is Queues for tables.
func (f *Function) Tables(connection string) (table.Account, error) {
	conn, err := f.Connection(connection, "Storage")
	if err != nil {
		return nil, err
	}
	return f.Connections.Tables(conn)
}

// IsTrue reads a boolean property; text counts as the platform's binder reads it.
func IsTrue(v any, otherwise bool) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(strings.TrimSpace(v), "true")
	default:
		return otherwise
	}
}

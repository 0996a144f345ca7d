package services

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Options of the embedded services. The zero value keeps them in memory.
type Options struct {
	// Seed is the source of identifiers and of chance.
	Seed uint64

	// Store keeps the services, also beyond the end of the process. The caller opens
	// and closes it. Nil: they live in memory.
	Store *store.Store

	// Accounts names storage accounts besides [FirstAccount].
	Accounts []string

	// Fault makes operations of the storage accounts fail; see package emulator.
	Fault func(StorageFault) error

	// Faults makes operations of any service fail.
	Faults func(FaultPoint) error

	// Record is told what the services do by themselves.
	Record func(journal.Record)

	// Made is called when a service has something that it had not: a container.
	Made func()

	// BlobEvent is told of changes of blobs.
	BlobEvent func(account string, e blobs.Event)

	// Function delivers events to a function by its name.
	Function func(name string) eventgrid.Endpoint
}

// Embedded are the embedded services. Hosts that run beside each other share them.
type Embedded struct {
	clk      clock.Clock
	opts     Options
	accounts map[string]*storage.Storage // the first one too
	db       *store.Store                // nil: in memory without a store
	own      bool                        // db is to be closed

	bus       *servicebus.Namespace
	hubs      *eventhubs.Namespace
	documents *cosmos.Account
	grid      *eventgrid.Grid
	engine    *durable.Engine
}

// StorageFault is a moment at which an operation of the embedded storage can be
// made to fail.
type StorageFault = storage.FaultPoint

// FirstAccount is the name of the embedded storage account that every host has.
const FirstAccount = "devstoreaccount1"

// Open makes the services: kept in Options.Store, else in memory.
func Open(clk clock.Clock, opts *Options) (*Embedded, error) {
	e := &Embedded{clk: clk, opts: *opts, db: opts.Store}
	if err := e.openAccounts(); err != nil {
		return nil, err
	}
	if err := errors.Join(e.openBus(), e.openHubs(), e.openCosmos(), e.openGrid(), e.openDurable()); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// openAccounts makes the storage accounts. Several accounts in memory share a store
// too, so that what is done with the state is done with all of it at once.
func (e *Embedded) openAccounts() (err error) {
	e.accounts = map[string]*storage.Storage{}
	names := accountNames(e.opts.Accounts)
	if e.db == nil && len(names) > 1 {
		if e.db, err = store.OpenMemory(nil); err != nil {
			return err
		}
		e.own = true
	}
	for _, name := range names {
		opts := &storage.Options{Seed: e.opts.Seed, Record: e.opts.Record, Fault: e.storageFault()}
		if name != FirstAccount {
			opts.Seed ^= hashOf(name)
		}
		account := storage.New(e.clk, opts)
		if e.db != nil {
			if account, err = storage.Open(e.clk, e.db.Space(space(name)), opts); err != nil {
				return errors.Join(fmt.Errorf("storage account %q: %w", name, err), e.Close())
			}
		}
		e.accounts[name] = account
	}
	return nil
}

// openBus makes the Service Bus namespace.
func (e *Embedded) openBus() (err error) {
	opts := &servicebus.Options{Seed: e.opts.Seed, Record: e.opts.Record, Fault: e.busFault()}
	if e.db != nil {
		e.bus, err = servicebus.Open(e.clk, e.db, opts)
		return err
	}
	e.bus = servicebus.New(e.clk, opts)
	return nil
}

// openHubs makes the Event Hubs namespace. With the Service Bus namespace, which comes
// first, it is one name space.
func (e *Embedded) openHubs() (err error) {
	opts := &eventhubs.Options{Record: e.opts.Record, Fault: e.hubsFault()}
	if e.db != nil {
		e.hubs, err = eventhubs.Open(e.clk, e.db, opts)
		return err
	}
	e.hubs = eventhubs.New(e.clk, opts)
	return nil
}

// openCosmos makes the Cosmos DB account.
func (e *Embedded) openCosmos() (err error) {
	opts := &cosmos.Options{Created: e.opts.Made, Fault: e.cosmosFault()}
	if e.db != nil {
		e.documents, err = cosmos.Open(e.clk, e.db, opts)
		return err
	}
	e.documents = cosmos.New(e.clk, opts)
	return nil
}

// openGrid makes Event Grid, and gives it the changes of blobs.
func (e *Embedded) openGrid() (err error) {
	opts := &eventgrid.Options{
		Seed: e.opts.Seed, Record: e.opts.Record, Fault: e.gridFault(),
		Blobs: func(account string) blob.Account {
			if account == "" {
				account = FirstAccount
			}
			if a := e.Account(account); a != nil {
				return a
			}
			return nil
		},
		Function: e.opts.Function,
	}
	if e.db == nil {
		e.grid = eventgrid.New(e.clk, opts)
	} else if e.grid, err = eventgrid.Open(e.clk, e.db, opts); err != nil {
		return err
	}
	e.grid.ServedAt("http://" + DevEventGridAddress)
	for _, name := range e.Accounts() {
		e.accounts[name].OnBlobEvent(func(event blobs.Event) { e.opts.BlobEvent(name, event) })
		e.accounts[name].OnContainer(e.opts.Made)
	}
	return nil
}

// openDurable makes the engine of Durable Functions.
func (e *Embedded) openDurable() (err error) {
	opts := &durable.Options{Seed: e.opts.Seed ^ hashOf("durable"), Record: e.opts.Record, Fault: e.durableFault()}
	if e.db != nil {
		e.engine, err = durable.Open(e.clk, e.db, opts)
		return err
	}
	e.engine = durable.New(e.clk, opts)
	return nil
}

// Stop ends what the services do by themselves: nothing new begins. Stopped waits for it.
func (e *Embedded) Stop() {
	e.grid.Stop()
	e.engine.Stop()
}

// Stopped waits until nothing is left of what the services do by themselves, after Stop.
func (e *Embedded) Stopped() {
	e.grid.Close()
	e.engine.Stopped()
}

// Close ends what Open has opened itself.
func (e *Embedded) Close() error {
	if !e.own {
		return nil
	}
	return e.db.Close()
}

// Storage is the account [FirstAccount], which UseDevelopmentStorage=true means.
func (e *Embedded) Storage() *storage.Storage { return e.accounts[FirstAccount] }

// Account returns the storage account of that name, or nil.
func (e *Embedded) Account(name string) *storage.Storage { return e.accounts[name] }

// Accounts lists the names of the storage accounts, sorted.
func (e *Embedded) Accounts() []string { return slices.Sorted(maps.Keys(e.accounts)) }

// PageTables says of all storage accounts whether pages of entities end with partitions.
func (e *Embedded) PageTables(byPartition bool) {
	for _, account := range e.accounts {
		account.PagesByPartition(byPartition)
	}
}

// NameOf is the name of a storage account.
func (e *Embedded) NameOf(account *storage.Storage) string {
	for _, name := range e.Accounts() {
		if e.Account(name) == account {
			return name
		}
	}
	return FirstAccount
}

// ServiceBus is the Service Bus namespace, which connection strings with
// UseDevelopmentEmulator=true mean.
func (e *Embedded) ServiceBus() *servicebus.Namespace { return e.bus }

// EventHubs is the Event Hubs namespace, which connection strings with
// UseDevelopmentEmulator=true mean; see [Connections.ServiceBusAt] for which of them.
func (e *Embedded) EventHubs() *eventhubs.Namespace { return e.hubs }

// Cosmos is the Cosmos DB account, which connection strings with an AccountEndpoint on
// this machine mean. It has no wire protocol.
func (e *Embedded) Cosmos() *cosmos.Account { return e.documents }

// EventGrid is Event Grid: the topics of redeliver.eventGrid in host.json, and others.
func (e *Embedded) EventGrid() *eventgrid.Grid { return e.grid }

// Durable is the engine of Durable Functions, with its task hubs.
func (e *Embedded) Durable() *durable.Engine { return e.engine }

// IsEntity reports whether a name is a queue's or a topic's of the Service Bus namespace.
func (e *Embedded) IsEntity(name string) bool { return HasEntity(e.bus, name) }

// HasEntity reports whether a name is a queue's or a topic's.
func HasEntity(ns *servicebus.Namespace, name string) bool {
	_, queueErr := ns.GetQueue(context.Background(), name)
	_, topicErr := ns.GetTopic(context.Background(), name)
	return queueErr == nil || topicErr == nil
}

// accountNames is the first account and the others, each once.
func accountNames(others []string) []string {
	names := []string{FirstAccount}
	for _, name := range others {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// space is where the data of an account lies in a store.
func space(account string) string {
	if account == FirstAccount {
		return ""
	}
	return account
}

// hashOf keeps the identifiers of accounts apart.
func hashOf(name string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // never fails
	return hash.Sum64()
}

// StartTime is the time at which the clock of a host starts that keeps its
// accounts in db, which may be nil: the time of the wall, or the time of the
// last change in db if that is later. A clock that was moved or skipped waits
// left times behind that the wall has not reached; a clock that started before
// them would hide every message until then.
func StartTime(db *store.Store, accounts ...string) (time.Time, error) {
	now := time.Now() //clock:outside the start of the clock
	if db == nil {
		return now, nil
	}
	last, err := lastChange(db, accountNames(accounts))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last change: %w", err)
	}
	if last.After(now) {
		return last, nil
	}
	return now, nil
}

// lastChange is the time of the last change of any storage account, or of one of the
// other services.
func lastChange(db *store.Store, accounts []string) (last time.Time, err error) {
	for _, of := range []keep.Keys{servicebus.Keys, eventhubs.Keys, cosmos.Keys, eventgrid.Keys, durable.Keys} {
		t, err := of.LastTime(db)
		if err != nil {
			return time.Time{}, err
		}
		last = latest(last, t)
	}
	for _, name := range accounts {
		t, err := account.LastTime(db.Space(space(name)))
		if err != nil {
			return time.Time{}, err
		}
		last = latest(last, t)
	}
	return last, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

package host

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// accounts are the embedded storage accounts of a host.
type accounts struct {
	byName map[string]*emulator.Storage // the first one too
	db     *store.Store                 // nil: in memory without a store
	own    bool                         // db is the host's to close
}

// StorageFault is a moment at which an operation of the embedded storage can be
// made to fail; see Options.StorageFault.
type StorageFault = emulator.FaultPoint

// FirstAccount is the name of the embedded storage account that every host has.
const FirstAccount = "devstoreaccount1"

// openAccounts makes the embedded accounts: kept in Options.Store, else in
// memory. Several accounts in memory share a store too, so that what is done with
// the state is done with all of it at once.
func (h *Host) openAccounts() (err error) {
	h.accounts = accounts{byName: map[string]*emulator.Storage{}, db: h.opts.Store}
	names := accountNames(h.opts.Accounts)
	if h.accounts.db == nil && len(names) > 1 {
		if h.accounts.db, err = store.OpenMemory(nil); err != nil {
			return err
		}
		h.accounts.own = true
	}
	for _, name := range names {
		opts := &emulator.Options{Seed: h.opts.Seed, Record: h.fleet.record, Fault: h.opts.StorageFault}
		if name != FirstAccount {
			opts.Seed ^= hashOf(name)
		}
		account := emulator.New(h.clk, opts)
		if db := h.accounts.db; db != nil {
			if account, err = emulator.Open(h.clk, db.Space(space(name)), opts); err != nil {
				return errors.Join(fmt.Errorf("storage account %q: %w", name, err), h.accounts.close())
			}
		}
		h.accounts.byName[name] = account
	}
	h.storage = h.accounts.byName[FirstAccount]
	return nil
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

// close ends what the host opened itself.
func (a *accounts) close() error {
	if !a.own {
		return nil
	}
	return a.db.Close()
}

// Account returns the embedded storage account of that name, or nil: the first
// one and those of Options.Accounts.
func (h *Host) Account(name string) *emulator.Storage { return h.accounts.byName[name] }

// Accounts lists the names of the embedded storage accounts, sorted.
func (h *Host) Accounts() []string { return slices.Sorted(maps.Keys(h.accounts.byName)) }

// StartTime is the time at which the clock of a host starts that keeps its
// accounts in db, which may be nil: that of the wall or, when it is later, that
// of the last change that db holds. A clock that was moved or skipped waits left
// times behind that the wall has not reached; a clock that started before them
// would hide every message until then.
func StartTime(db *store.Store, accounts ...string) (time.Time, error) {
	now := realNow()
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
	for _, of := range []keep.Keys{servicebus.Keys, eventhubs.Keys, cosmos.Keys, eventgrid.Keys} {
		t, err := of.LastTime(db)
		if err != nil {
			return time.Time{}, err
		}
		last = latest(last, t)
	}
	for _, name := range accounts {
		t, err := emulator.LastTime(db.Space(space(name)))
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

// embedded returns the embedded account that a connection means for one of its
// services, if it means one.
func (h *Host) embedded(conn app.Connection, service storageService) (account *emulator.Storage, ok bool) {
	if h.doors.isEmbedded(conn, service) {
		return h.storage, true
	}
	parts := fields(conn)
	endpoint := endpointOf(parts, service)
	if endpoint == "" || parts["sharedaccesssignature"] != "" || addressOf(endpoint) != h.doors.at(service) {
		return nil, false
	}
	account, ok = h.accounts.byName[accountOf(endpoint)]
	return account, ok
}

// DevelopmentStorage says what handler processes are given where a setting is
// UseDevelopmentStorage=true: a connection string of the first account, for a host
// that serves it elsewhere than SDKs look for it. Empty: the setting as it is.
// Call it before Start.
func (h *Host) DevelopmentStorage(connection string) { h.developmentStorage = connection }

// setting is the value of a setting as a handler process is given it.
func (h *Host) setting(value string) string {
	short := strings.EqualFold(strings.TrimRight(strings.TrimSpace(value), ";"), "UseDevelopmentStorage=true")
	if short && h.developmentStorage != "" {
		return h.developmentStorage
	}
	return h.doors.busSetting(value)
}

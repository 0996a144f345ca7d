package storage

import (
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/storage/queues"
	"github.com/redeliver/redeliver/host/emulator/storage/tables"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Options and fault points are the same for all services.
type (
	Options    = account.Options
	FaultPoint = account.FaultPoint
)

// Storage is one storage account, empty when new. All methods may be called
// concurrently; on a virtual clock, from inside the clock.
//
// It implements queue.Account, queue.Admin, queue.Waker, queue.Foresight,
// blob.Account, blob.Waker, table.Account and table.Admin.
type Storage struct {
	*queueService
	*blobService
	*tableService

	clk  clock.Clock
	opts *Options
	db   *store.Store // nil: the account lives in memory only
}

type (
	queueService = queues.Service
	blobService  = blobs.Service
	tableService = tables.Service
)

// services are those of the account. A copy of the account has their states in this order.
func (s *Storage) services() []account.Service {
	return []account.Service{s.queueService, s.blobService, s.tableService}
}

// New returns an empty account that takes its time from clk.
func New(clk clock.Clock, opts *Options) *Storage {
	s := &Storage{clk: clk, opts: &Options{}}
	if opts != nil {
		*s.opts = *opts
	}
	s.queueService, s.blobService, s.tableService = queues.New(clk, s.opts), blobs.New(clk, s.opts), tables.New(clk, s.opts)
	return s
}

// Open returns the account that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used, every rule intact. Times are
// kept: what was due meanwhile has ended.
//
// All but the bodies of blobs lives in memory as with [New]. [keep.Keeper.Open]
// tells what this means for calls.
//
// The caller opens db, may keep more in it, and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Storage, error) {
	s := New(clk, opts)
	s.db = db
	for _, service := range s.services() {
		if err := service.Open(db); err != nil {
			return nil, err
		}
	}
	return s, nil
}

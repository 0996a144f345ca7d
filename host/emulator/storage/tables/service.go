package tables

import (
	"context"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Service is the Table service of one storage account, empty when new. All methods may be
// called concurrently; on a virtual clock, from inside the clock.
//
// It implements table.Account and table.Admin.
type Service struct {
	account.Image[tablesState]

	clk  clock.Clock
	opts *account.Options

	mu         sync.Mutex
	tables     map[string]*tableState // by the name in lower case
	names      ordered.Set[string]    // the keys of tables
	properties storage.ServiceProperties
	last       int64 // the newest Timestamp that was given, in ticks
	kept       *keep.Keeper
	partitions bool // pages end with partitions
}

var (
	_ account.Service  = (*Service)(nil)
	_ tableapi.Account = (*Service)(nil)
	_ tableapi.Admin   = (*Service)(nil)
)

// New returns a service without tables that takes its time from clk. Opts may be nil; the
// service keeps them.
func New(clk clock.Clock, opts *account.Options) *Service {
	if opts == nil {
		opts = &account.Options{}
	}
	s := &Service{clk: clk, opts: opts, tables: map[string]*tableState{}, names: ordered.New(strings.Compare)}
	s.Image = account.NewImage(clk, &s.mu, s.kind())
	s.kept = s.Keeper()
	return s
}

// Table returns a handle on the table of that name.
func (s *Service) Table(name string) tableapi.Table { return s.table(name) }

// TableIn returns a handle that ends with an epoch.
func (s *Service) TableIn(e *epoch.Epoch, name string) tableapi.Table {
	t := s.table(name)
	t.epoch = e
	return t
}

func (s *Service) table(name string) *table {
	return &table{s: s, name: name, nameErr: tableapi.ValidateName(name)}
}

// nextLocked is the Timestamp of the next commit, which becomes the last one. Commits are
// strictly ordered, also within one moment of the clock and when the clock goes back (spec
// tables 3.3).
func (s *Service) nextLocked() int64 { return max(ticks(s.clk.Now()), s.last+1) }

// operate runs f between the fault points, with the mutex held and a change to write what
// it does. Adds is set when f needs room on the disk.
func (s *Service) operate(ctx context.Context, p account.FaultPoint, adds bool, f func(c *change) error) error {
	return s.kept.Operate(ctx, adds, s.opts.Points(p), func() error {
		commit, err := s.locked(f)
		if waitErr := s.kept.Wait(ctx, commit); err == nil {
			err = waitErr
		}
		return err
	})
}

// locked returns what has to be written before anybody may be told the outcome of f, which
// has changed nothing when it fails.
func (s *Service) locked(f func(c *change) error) (keep.Awaited, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return keep.Awaited{}, err
	}
	c := change{s.kept.Change()}
	if err := f(&c); err != nil {
		c.Discard()
		return s.kept.Pending(), err
	}
	return s.kept.Begin(&c.Change)
}

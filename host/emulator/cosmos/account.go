package cosmos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Options changes how an account behaves. The zero value is good for use.
type Options struct {
	// Fault is asked twice in every operation on documents and feeds, and its error
	// is the operation's result: before, so that nothing happens, and after the
	// effect, so that the caller does not learn of it. It may wait.
	Fault func(FaultPoint) error

	// Created, if set, is called when a container has been made, for callers
	// who have missed it. It must not call the account.
	Created func()
}

// FaultPoint is a moment at which an operation can be made to fail.
type FaultPoint struct {
	Op        string // the method's name: "Create", "Upsert", "Replace", ...
	Container string // "database/container"
	ItemID    string // of one document; empty for others
	RangeID   string // of Changes
	After     bool   // the operation has taken effect
}

// DefaultHost is the account's host in lease documents: the host of the official
// emulator's address.
const DefaultHost = "localhost"

// Account is one Cosmos DB account, empty when new. All methods may be called
// concurrently; on a virtual clock, from inside the clock. It implements
// cosmos.Account, and its containers cosmos.Watcher.
//
// It embeds its state as a whole, which [keep.State] copies, replaces and checks. Wake
// tells watchers of a replacement.
type Account struct {
	*keep.State[state]

	clk  clock.Clock
	opts Options

	mu       sync.Mutex
	kept     *keep.Keeper
	state    state
	watchers map[watched][]*watcher
}

var _ cosmos.Account = (*Account)(nil)

// state is everything that an account holds.
type state struct {
	databases  map[string]string // resource identifier by name
	containers map[string]*container
	ids        ids
}

func newState() state {
	return state{databases: map[string]string{}, containers: map[string]*container{}}
}

// watched is a range of a container; watchers outlive the state in memory.
type watched struct{ rid, rangeID string }

type watcher struct{ changed func() }

// New returns an empty account that takes its time from clk. Nil opts are the
// zero Options.
func New(clk clock.Clock, opts *Options) *Account {
	a := &Account{clk: clk, state: newState(), watchers: map[watched][]*watcher{}}
	if opts != nil {
		a.opts = *opts
	}
	a.State, a.kept = keep.New(clk, &a.mu, a.kind())
	return a
}

// AccountHost implements cosmos.Account.
func (a *Account) AccountHost() string { return DefaultHost }

// now returns the time as it is stored: in UTC, comparable as a plain value.
func (a *Account) now() time.Time { return a.clk.Now().UTC().Round(0) }

// pathOf is how a container is named in messages, and in maps.
func pathOf(database, name string) string { return database + "/" + name }

// Container implements cosmos.Account.
func (a *Account) Container(ctx context.Context, database, name string) (cosmos.Container, error) {
	var h *handle
	err := a.operate(ctx, FaultPoint{Op: "Container", Container: pathOf(database, name)}, func(*operation) error {
		c := a.state.containers[pathOf(database, name)]
		if c == nil {
			return fmt.Errorf("container %q of database %q: %w", name, database, bindings.ErrNotFound)
		}
		h = &handle{a: a, info: c.info}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// CreateContainer implements cosmos.Account.
func (a *Account) CreateContainer(ctx context.Context, spec cosmos.ContainerSpec) (cosmos.Container, error) {
	spec, err := checkSpec(spec)
	if err != nil {
		return nil, err
	}
	path := pathOf(spec.Database, spec.Name)
	var h *handle
	err = a.operate(ctx, FaultPoint{Op: "CreateContainer", Container: path}, func(op *operation) error {
		if a.state.containers[path] != nil {
			return fmt.Errorf("container %q of database %q: %w", spec.Name, spec.Database, bindings.ErrAlreadyExists)
		}
		rid, known := a.state.databases[spec.Database]
		if !known {
			rid = a.state.ids.database()
			a.state.databases[spec.Database] = rid
			op.saveDatabase(spec.Database, rid)
		}
		c := newContainer(cosmos.ContainerInfo{
			ContainerSpec: spec, DatabaseRID: rid, RID: a.state.ids.container(rid),
		})
		a.state.containers[path] = c
		op.saveContainer(c)
		h = &handle{a: a, info: c.info}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if a.opts.Created != nil {
		a.opts.Created()
	}
	return h, nil
}

// checkSpec fills in defaults and refuses what no container can have.
func checkSpec(spec cosmos.ContainerSpec) (cosmos.ContainerSpec, error) {
	for _, name := range []string{spec.Database, spec.Name} {
		if !validName(name) {
			return spec, fmt.Errorf(`cosmos name %q: %w: 1 to 255 characters without / \ # ? and without a space at the end`, name, bindings.ErrInvalidName)
		}
	}
	if spec.PartitionKey == "" {
		spec.PartitionKey = "/id"
	}
	if _, ok := keyPath(spec.PartitionKey); !ok {
		return spec, fmt.Errorf("partition key %q: %w: a path such as /customer/id is needed", spec.PartitionKey, bindings.ErrInvalidArgument)
	}
	if spec.Ranges == 0 {
		spec.Ranges = 1
	}
	if spec.Ranges < 0 || spec.Ranges > cosmos.MaxRanges {
		return spec, fmt.Errorf("%d ranges: %w: 1 to %d are possible", spec.Ranges, bindings.ErrInvalidArgument, cosmos.MaxRanges)
	}
	return spec, nil
}

// validName is the rule for names of databases and containers, and for
// identifiers of documents.
func validName(s string) bool {
	return s != "" && len([]rune(s)) <= 255 && !strings.ContainsAny(s, `/\#?`) && !strings.HasSuffix(s, " ") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

// DeleteContainer removes a container with its documents and feeds, ErrNotFound if
// there is none.
func (a *Account) DeleteContainer(ctx context.Context, database, name string) error {
	path := pathOf(database, name)
	return a.operate(ctx, FaultPoint{Op: "DeleteContainer", Container: path}, func(op *operation) error {
		c := a.state.containers[path]
		if c == nil {
			return fmt.Errorf("container %q of database %q: %w", name, database, bindings.ErrNotFound)
		}
		delete(a.state.containers, path)
		op.dropContainer(c)
		for _, r := range c.ranges {
			op.touch(c, r)
		}
		return nil
	})
}

// Wake tells all who watch a range that it may have changed: after the state was
// replaced from elsewhere.
func (a *Account) Wake() {
	a.mu.Lock()
	var all []*watcher
	for _, list := range a.watchers {
		all = append(all, list...)
	}
	a.mu.Unlock()
	for _, w := range all {
		w.changed()
	}
}

// Reset removes everything, and starts identifiers again.
func (a *Account) Reset() error {
	err := a.operate(context.Background(), FaultPoint{Op: "Reset"}, func(op *operation) error {
		a.state = newState()
		op.dropAll()
		return nil
	})
	if err == nil {
		a.Wake()
	}
	return err
}

// Clear removes the documents of all containers except the ones that keep
// names, and nothing else: the positions of feeds go on.
func (a *Account) Clear(ctx context.Context, keep func(database, container string) bool) error {
	return a.operate(ctx, FaultPoint{Op: "Clear"}, func(op *operation) error {
		for _, c := range a.state.containers {
			if keep != nil && keep(c.info.Database, c.info.Name) {
				continue
			}
			c.empty(op)
		}
		return nil
	})
}

// operation is what is done with the lock held, and what it has to do afterwards.
type operation struct {
	change
	touched []watched
}

// touch notes that a range has changed.
func (op *operation) touch(c *container, r *feedRange) {
	key := watched{c.info.RID, r.ID}
	if !slices.Contains(op.touched, key) {
		op.touched = append(op.touched, key)
	}
}

// operate runs f with the lock held, between the fault points, and returns when
// what it has changed is written.
func (a *Account) operate(ctx context.Context, p FaultPoint, f func(op *operation) error) error {
	return a.kept.Operate(ctx, p.Op == "Upsert" || p.Op == "Put", func(after bool) error { p.After = after; return a.fault(p) }, func() error {
		commit, wake, err := a.underLock(&operation{}, f)
		if waitErr := a.kept.Wait(ctx, commit); waitErr != nil {
			err = waitErr // what the operation has seen did not last
		}
		for _, w := range wake {
			if err == nil {
				w.changed()
			}
		}
		return err
	})
}

// underLock is the part of an operation under the lock. The returned commit has to be
// written before the result, or a failure, is told.
func (a *Account) underLock(op *operation, f func(op *operation) error) (commit keep.Awaited, wake []*watcher, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.kept.Ready(); err != nil {
		return keep.Awaited{}, nil, err
	}
	op.Change = a.kept.Change()
	if err := f(op); err != nil {
		op.Discard()
		return a.kept.Pending(), nil, err
	}
	if commit, err = a.kept.Begin(&op.Change); err != nil {
		return keep.Awaited{}, nil, err
	}
	for _, key := range op.touched {
		wake = append(wake, a.watchers[key]...)
	}
	return commit, wake, nil
}

func (a *Account) fault(p FaultPoint) error {
	if a.opts.Fault == nil {
		return nil
	}
	return a.opts.Fault(p)
}

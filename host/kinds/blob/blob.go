// Package blob is the trigger and the bindings of blobs as the host knows them, and the
// events of storage accounts.
package blob

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/kinds/queue"
	trigger "github.com/redeliver/redeliver/triggers/blob"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is the blob trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "blobTrigger", Odd: app.AnyDirection, NeedsStorage: true, Connection: "Storage",
			TakesEvents: true, Redelivery: "the queue's maxDequeueCount", Feeds: feeds,
			Deliveries: deliveries, End: end, Validate: validate, Warn: warnNames,
		},
		Connect: connect, Listen: listen, Message: message, Hook: hook, ServeHook: serveHook, Replaced: replaced,
		CountName: "DequeueCount",
	}
}

// share is the common part of a generation's blob functions, made when the first of
// them listens.
type share struct {
	mu       sync.Mutex
	shared   *trigger.Shared
	embedded bool // one of them uses an embedded account
}

type shareKey struct{}

func shareOf(g kinds.Generation) *share {
	return g.Shared(shareKey{}, func() any { return &share{} }).(*share)
}

// replaced lets the next function that listens make another.
func replaced(g kinds.Generation) {
	s := shareOf(g)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.embedded {
		s.shared = nil
	}
}

// of returns the shared part for a function, and whether the end of the epoch concerns it.
func (s *share) of(f *kinds.Function) (shared *trigger.Shared, embedded bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared != nil {
		return s.shared, s.embedded, nil
	}
	account, err := Account(f, "Storage")
	if err != nil {
		return nil, false, err
	}
	t := &kinds.Turn{Function: f, Epoch: f.Epoch()}
	account = accountIn(t, account)
	a := f.App()
	conf := a.Config.Blobs
	lease, retry := f.Locks().Listener()
	opts := &trigger.Options{
		MaxDegreeOfParallelism: conf.MaxDegreeOfParallelism,
		PoisonBlobThreshold:    conf.PoisonBlobThreshold,
		Lease:                  lease,
		Retry:                  retry,
		Owner:                  f.Instance,
		Reclaim:                f.Locks().Reclaims(),
		Rand:                   f.Jitter(1<<63 | 1<<62),
		Watcher:                f.Watcher,
		Renewed:                queue.Renewed(f, f.Journal, journal.Record{Trigger: "blobTrigger", Source: trigger.ControlQueue(a.ID)}),
		WakeUp:                 a.Switches.WakeUp == "fast",
	}
	if !services.IsDevelopment(account.Endpoint) {
		opts.ScanInterval = cloudScanInterval
	}
	for _, other := range f.Functions() {
		if isBlob(other) && !other.Def.Disabled {
			opts.Functions = append(opts.Functions, app.FunctionID(other.Def.Name))
			if own, err := Account(other, other.Def.Trigger.Connection); err == nil {
				accountIn(t, own)
			}
		}
	}
	s.shared, s.embedded = trigger.NewShared(f.Clock, account, a.ID, opts), t.Uses.Load()
	return s.shared, s.embedded, nil
}

func isBlob(f *kinds.Function) bool { return f.Def.Trigger.Is("blobTrigger") }

// Account returns the queues and blobs of a connection, "" for the host's own.
func Account(f *kinds.Function, connection string) (trigger.Account, error) {
	conn, err := f.Connection(connection, "Storage")
	if err != nil {
		return trigger.Account{}, err
	}
	account := trigger.Account{Name: conn.Setting, Endpoint: f.Connections.BlobEndpoint(conn)}
	if account.Blobs, err = f.Connections.Blobs(conn); err != nil {
		return trigger.Account{}, err
	}
	// An account without queues still has blobs; its poison messages go to the
	// host's own account.
	if account.Queues, err = f.Connections.Queues(conn); err != nil {
		account.Queues = nil
	}
	return account, nil
}

// accountIn is an account as a turn's listener reaches it.
func accountIn(t *kinds.Turn, a trigger.Account) trigger.Account {
	a.Blobs = t.BlobsIn(a.Blobs)
	if a.Queues != nil {
		a.Queues = t.QueuesIn(a.Queues)
	}
	return a
}

// cloudScanInterval is the time between two scans unless the host's account is
// development storage (source: ScanBlobScanLogHybridPollingStrategy.cs).
const cloudScanInterval = 10 * time.Second

// functionOf is the trigger's view of a function.
func functionOf(f *kinds.Function) (*trigger.Function, error) {
	pattern, err := blob.ParsePattern(f.Def.Trigger.String("path"))
	if err != nil {
		return nil, err
	}
	account, err := Account(f, f.Def.Trigger.Connection)
	if err != nil {
		return nil, err
	}
	bf := &trigger.Function{
		ID: app.FunctionID(f.Def.Name), Pattern: pattern, Account: account, EventGrid: onEventGrid(f.Def.Trigger),
		Platform: kinds.OfThePlatform(f),
	}
	if f.Def.DefersTrigger() {
		bf.Deferred = connectionName(f.Def.Trigger)
	}
	return bf, nil
}

// connectionName is the name by which a library in the worker looks for a connection.
func connectionName(b *app.Binding) string { return cmp.Or(b.Connection, "AzureWebJobsStorage") }

// Listener is the function of an app that a control message with that ID is for, nil if
// there is none. Newer: it runs for the newest version of a blob, whichever the message
// names.
func Listener(a *app.App, id string) (f *app.Function, newer bool) {
	for _, f := range a.Functions {
		if app.FunctionID(f.Name) == id && f.Trigger.Is("blobTrigger") && !f.Disabled {
			return f, onEventGrid(f.Trigger)
		}
	}
	return nil, false
}

// onEventGrid reports whether a blob trigger learns of blobs by Event Grid.
func onEventGrid(b *app.Binding) bool { return strings.EqualFold(b.String("source"), "EventGrid") }

func connect(f *kinds.Function) error {
	if _, err := Account(f, "Storage"); err != nil {
		return err
	}
	_, err := Account(f, f.Def.Trigger.Connection)
	return err
}

func listen(t *kinds.Turn) (triggers.Listener, error) {
	bf, err := functionOf(t.Function)
	if err != nil {
		return nil, err
	}
	shared, embedded, err := shareOf(t.Function).of(t.Function)
	if err != nil {
		return nil, err
	}
	bf.Account = accountIn(t, bf.Account)
	t.Uses.Store(embedded)
	return shared.Listener(bf), nil
}

// message runs a function for the blob whose path is the input of a call by hand,
// also against the function's own pattern.
func message(f *kinds.Function, input string) (triggers.Message, error) {
	bf, err := functionOf(f)
	if err != nil {
		return triggers.Message{}, err
	}
	container, name, err := blob.ParsePath(input)
	if err != nil {
		return triggers.Message{}, err
	}
	p, err := bf.Account.Blobs.Container(container).Blob(name).Properties(f.Root, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return triggers.Message{}, fmt.Errorf("blob %q does not exist: call a blob function with the path of a blob, container/blob: %w", input, bindings.ErrNotFound)
	}
	if err != nil {
		return triggers.Message{}, err
	}
	return bf.Message(container, name, p), nil
}

func deliveries(a *app.App, _ *app.Function) (n int, unbounded bool) {
	return a.Config.Blobs.PoisonBlobThreshold, false
}

func end(*app.App, *app.Function) string { return `queue "` + trigger.PoisonQueue + `"` }

// validate checks the pattern, and what the other bindings use of it: a blob
// trigger's values are known before any blob comes.
func validate(a *app.App, f *app.Function) []*schemas.Fault {
	path := f.Trigger.String("path")
	if _, isBool := f.Trigger.Value("path").(bool); isBool { // observed: host 4.1037
		return []*schemas.Fault{{Path: f.Trigger.PathOf("path"), Found: path, Allowed: "container or container/{name}", Reason: "a path is a text", Kind: "argument"}}
	}
	pattern, err := blob.ParsePattern(path)
	if err != nil {
		reason := err.Error()
		if _, name := errors.AsType[*storage.Error](err); name { // the service refuses it when the listener starts
			reason = strings.TrimSuffix(reason, ".") + ", and " + app.StopsTheApp
		}
		return []*schemas.Fault{{
			Path: f.Trigger.PathOf("path"), Found: path, Allowed: "container or container/{name}",
			Reason: reason, Kind: "argument",
		}}
	}
	return kinds.EarlyNames(a, f, trigger.Contract(pattern))
}

func warnNames(a *app.App, f *app.Function) []*schemas.Fault {
	pattern, err := blob.ParsePattern(f.Trigger.String("path"))
	if err != nil {
		return nil // a fault says so
	}
	return kinds.LateNames(a, f, trigger.Contract(pattern))
}

package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/blob"
)

// blobShare is what the blob functions of a generation share, made when the first
// of them listens.
type blobShare struct {
	mu       sync.Mutex
	shared   *blob.Shared
	embedded bool // one of them uses an embedded account
}

// renew lets the next function that listens make another.
func (s *blobShare) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.embedded {
		s.shared = nil
	}
}

// of returns the shared part for a generation, and whether the end of the epoch
// concerns it.
func (s *blobShare) of(g *generation) (shared *blob.Shared, embedded bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared != nil {
		return s.shared, s.embedded, nil
	}
	account, err := g.storageAccount("Storage")
	if err != nil {
		return nil, false, err
	}
	t := &turn{function: &function{gen: g}, epoch: g.host.epoch.Load()}
	account = t.storage(account)
	h, conf := g.host, g.app.Config.Blobs
	lease, retry := g.listenerLock()
	opts := &blob.Options{
		MaxDegreeOfParallelism: conf.MaxDegreeOfParallelism,
		PoisonBlobThreshold:    conf.PoisonBlobThreshold,
		Lease:                  lease,
		Retry:                  retry,
		Owner:                  h.opts.Instance,
		Reclaim:                g.reclaims(),
		Rand:                   jitterOf(h.opts.Seed, 1<<63|1<<62),
		Watcher:                h.watcher,
		Renewed:                g.renewed(journal.Record{Trigger: "blobTrigger", Source: blob.ControlQueue(g.app.ID)}),
		WakeUp:                 g.app.Switches.WakeUp == "fast",
	}
	if !services.IsDevelopment(account.Endpoint) {
		opts.ScanInterval = cloudScanInterval
	}
	for _, f := range g.functions {
		if f.kind.Type == "blobTrigger" && !f.def.Disabled {
			opts.Functions = append(opts.Functions, app.FunctionID(f.def.Name))
			if own, err := g.storageAccount(f.def.Trigger.Connection); err == nil {
				t.storage(own)
			}
		}
	}
	s.shared, s.embedded = blob.NewShared(h.clk, account, g.app.ID, opts), t.embedded.Load()
	return s.shared, s.embedded, nil
}

// storageAccount returns the queues and blobs of a connection, "" for the host's
// own.
func (g *generation) storageAccount(connection string) (blob.Account, error) {
	if connection == "" {
		connection = "Storage"
	}
	conn, ok := g.app.Settings.Connection(connection)
	if !ok {
		return blob.Account{}, app.MissingConnection(connection)
	}
	account := blob.Account{Name: conn.Setting, Endpoint: g.host.connections.BlobEndpoint(conn)}
	var err error
	if account.Blobs, err = g.host.connections.Blobs(conn); err != nil {
		return blob.Account{}, err
	}
	// An account without queues still has blobs; its poison messages go to the
	// host's own account.
	if account.Queues, err = g.host.connections.Queues(conn); err != nil {
		account.Queues = nil
	}
	return account, nil
}

// cloudScanInterval is the time between two scans unless the host's account is
// development storage (source: ScanBlobScanLogHybridPollingStrategy.cs).
const cloudScanInterval = 10 * time.Second

// blobFunction is what the trigger needs to know of a function.
func (f *function) blobFunction() (*blob.Function, error) {
	pattern, err := blobapi.ParsePattern(f.def.Trigger.String("path"))
	if err != nil {
		return nil, err
	}
	account, err := f.gen.storageAccount(f.def.Trigger.Connection)
	if err != nil {
		return nil, err
	}
	return &blob.Function{
		ID: app.FunctionID(f.def.Name), Pattern: pattern, Account: account, DataType: f.def.Trigger.DataType, EventGrid: onEventGrid(f.def.Trigger),
	}, nil
}

// onEventGrid reports whether a blob trigger learns of blobs by Event Grid.
func onEventGrid(b *app.Binding) bool { return strings.EqualFold(b.String("source"), "EventGrid") }

func connectBlob(f *function) error {
	if _, err := f.gen.storageAccount("Storage"); err != nil {
		return err
	}
	_, err := f.gen.storageAccount(f.def.Trigger.Connection)
	return err
}

func listenBlob(t *turn) (triggers.Listener, error) {
	bf, err := t.blobFunction()
	if err != nil {
		return nil, err
	}
	shared, embedded, err := t.gen.blobs.of(t.gen)
	if err != nil {
		return nil, err
	}
	bf.Account = t.storage(bf.Account)
	t.embedded.Store(embedded)
	return shared.Listener(bf), nil
}

// blobMessage runs a function for the blob whose path is the input of a call by
// hand, whatever the function's own pattern.
func blobMessage(h *Host, f *function, input string) (triggers.Message, error) {
	bf, err := f.blobFunction()
	if err != nil {
		return triggers.Message{}, err
	}
	container, name, err := blobapi.ParsePath(input)
	if err != nil {
		return triggers.Message{}, err
	}
	p, err := bf.Account.Blobs.Container(container).Blob(name).Properties(h.root, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return triggers.Message{}, fmt.Errorf("blob %q does not exist: a blob function is called with the path of one, container/blob: %w", input, bindings.ErrNotFound)
	}
	if err != nil {
		return triggers.Message{}, err
	}
	return bf.Message(container, name, p), nil
}

func blobDeliveries(a *app.App, _ *app.Function) (n int, unbounded bool) {
	return a.Config.Blobs.PoisonBlobThreshold, false
}

func blobEnd(*app.App, *app.Function) string { return `queue "` + blob.PoisonQueue + `"` }

// validateBlob checks the pattern, and what the other bindings use of it: a blob
// trigger's values are known before any blob comes.
func validateBlob(_ *app.App, f *app.Function) []*schemas.Fault {
	path := f.Trigger.String("path")
	pattern, err := blobapi.ParsePattern(path)
	if err != nil {
		return []*schemas.Fault{{
			Path: f.Trigger.PathOf("path"), Found: path, Allowed: "container or container/{name}",
			Reason: err.Error(), Kind: "argument",
		}}
	}
	return unknownNames(f, blob.Contract(pattern))
}

// unknownNames checks the expressions of a function's other bindings against the
// names that its trigger provides, for triggers that provide the same whatever
// comes (spec storage 12).
func unknownNames(f *app.Function, contract []string) []*schemas.Fault {
	var faults []*schemas.Fault
	for _, b := range f.Bindings {
		for _, key := range []string{"path", "queueName"} {
			if b == f.Trigger || b.String(key) == "" {
				continue
			}
			template, err := bindings.ParseTemplate(b.String(key))
			if err != nil {
				continue // reported with the binding
			}
			if err := template.Check(contract); err != nil {
				faults = append(faults, &schemas.Fault{
					Path: b.PathOf(key), Found: b.String(key), Allowed: strings.Join(contract, ", "),
					Reason: err.Error(), Kind: schemas.KindInvalidOperation,
				})
			}
		}
	}
	return faults
}

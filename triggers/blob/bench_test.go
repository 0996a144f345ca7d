package blob_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/blob"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	hostID   = "testhost-1"
	endpoint = "http://127.0.0.1:10000/devstoreaccount1"
	control  = "azure-webjobs-blobtrigger-" + hostID
)

var errHandler = errors.New("handler failed")

// bench is a storage account on a virtual clock, and hosts that work on it.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	storage *storage.Storage
	fault   func(storage.FaultPoint) error
	hosts   []*running

	listed func(ctx context.Context) // when set: before each page but the first, which then holds one blob
}

func newBench(t *testing.T) *bench { return newBenchOn(t, &clock.VirtualOptions{Strict: true}) }

func newBenchOn(t *testing.T, opts *clock.VirtualOptions) *bench {
	b := &bench{T: t, clk: clock.NewVirtual(start, opts)}
	b.storage = storage.New(b.clk, &storage.Options{Fault: func(p storage.FaultPoint) error {
		if b.fault == nil {
			return nil
		}
		return b.fault(p)
	}})
	t.Cleanup(func() {
		for _, h := range b.hosts {
			h.stop()
		}
	})
	return b
}

func (b *bench) do(f func(ctx context.Context)) {
	b.Helper()
	b.clk.Do("test", func() { f(context.Background()) })
}

// upload writes a blob, in a container that is made if need be.
func (b *bench) upload(path, content string) {
	b.Helper()
	container, name, _ := strings.Cut(path, "/")
	b.do(func(ctx context.Context) { b.must(put(ctx, b.storage, container, name, content)) })
}

func put(ctx context.Context, account blobapi.Account, container, name, content string) error {
	c := account.Container(container)
	if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	_, err := c.Blob(name).Put(ctx, strings.NewReader(content), nil)
	return err
}

func (b *bench) blob(path string) blobapi.Blob {
	container, name, _ := strings.Cut(path, "/")
	return b.storage.Container(container).Blob(name)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// names lists the blobs of a container below a prefix.
func (b *bench) names(container, prefix string) []string {
	b.Helper()
	var names []string
	b.do(func(ctx context.Context) {
		page, err := b.storage.Container(container).Blobs(ctx, &blobapi.ListOptions{Prefix: prefix})
		b.must(err)
		for _, item := range page.Blobs {
			names = append(names, item.Name)
		}
	})
	return names
}

// queue returns the decoded bodies of the visible messages of a queue.
func (b *bench) queue(name string) []string {
	b.Helper()
	bodies := []string{}
	b.do(func(ctx context.Context) {
		q := b.storage.Queue(name)
		if ok, err := q.Exists(ctx); err != nil || !ok {
			return
		}
		messages, err := q.Peek(ctx, 32)
		b.must(err)
		for _, m := range messages {
			body, err := queue.Base64.Decode(m.Text)
			b.must(err)
			bodies = append(bodies, string(body))
		}
	})
	return bodies
}

// send puts a raw text on the control queue.
func (b *bench) send(text string) {
	b.Helper()
	b.do(func(ctx context.Context) {
		_, err := queue.PutOrCreate(ctx, b.storage.Queue(control), text, nil)
		b.must(err)
	})
}

type handler = func(ctx context.Context, ev *triggers.Event) triggers.Result

func succeed(context.Context, *triggers.Event) triggers.Result { return triggers.Result{Attempts: 1} }

func fail(context.Context, *triggers.Event) triggers.Result {
	return triggers.Result{Err: errHandler, Attempts: 1}
}

// running is one host with its functions.
type running struct {
	b      *bench
	shared *blob.Shared
	cancel context.CancelFunc
	live   int
	errs   []error
	sinks  map[string]*triggertest.Sink
}

// function is a function of a running host.
type function struct {
	id, pattern string
	handle      handler
}

func (b *bench) account() blob.Account {
	account := blob.Account{Name: "Storage", Endpoint: endpoint, Blobs: b.storage, Queues: b.storage}
	if b.listed != nil {
		account.Blobs = &pagedAccount{b.storage, b.listed}
	}
	return account
}

// pagedAccount lists one blob a page, and lets others act between two of them.
type pagedAccount struct {
	blobapi.Account
	between func(ctx context.Context)
}

func (a *pagedAccount) Container(name string) blobapi.Container {
	return &pagedContainer{a.Account.Container(name), a.between}
}

type pagedContainer struct {
	blobapi.Container
	between func(ctx context.Context)
}

func (c *pagedContainer) Blobs(ctx context.Context, opts *blobapi.ListOptions) (*blobapi.Page, error) {
	if opts.Marker != "" {
		c.between(ctx)
	}
	paged := *opts
	paged.MaxResults = 1
	return c.Container.Blobs(ctx, &paged)
}

// start runs a host; the test's end stops it.
func (b *bench) start(opts *blob.Options, functions ...function) *running {
	b.Helper()
	return b.startAs(hostID, opts, functions...)
}

func (b *bench) startAs(host string, opts *blob.Options, functions ...function) *running {
	b.Helper()
	if opts == nil {
		opts = &blob.Options{WakeUp: true}
	}
	h := &running{b: b, shared: blob.NewShared(b.clk, b.account(), host, opts), sinks: map[string]*triggertest.Sink{}}
	b.hosts = append(b.hosts, h)
	var listeners []*blob.Listener
	for _, f := range functions {
		pattern, err := blobapi.ParsePattern(f.pattern)
		b.must(err)
		h.sinks[f.id] = triggertest.NewSink(b.clk, f.handle)
		listeners = append(listeners, h.shared.Listener(&blob.Function{
			ID: f.id, Pattern: pattern, Account: b.account(),
		}))
	}
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, h.cancel = b.clk.WithCancel(context.Background())
		group := clock.NewGroup(b.clk, 0)
		for i, l := range listeners {
			h.live++
			group.Go("listener", func() {
				if err := l.Run(ctx, h.sinks[functions[i].id]); err != nil {
					h.errs = append(h.errs, err)
				}
				h.live--
			})
		}
	})
	return h
}

func (h *running) stop() {
	h.b.Helper()
	h.b.clk.Do("stop", h.cancel)
	if h.live != 0 {
		h.b.Errorf("%d listeners run after the stop; waiting: %+v", h.live, h.b.clk.Waiting())
	}
}

// sources lists what a function was given, in order.
func (h *running) sources(id string) []string {
	out := []string{}
	for _, ev := range h.sinks[id].Handled() {
		out = append(out, ev.Source)
	}
	return out
}

// settled lists the decisions about a function's deliveries.
func (h *running) settled(id string) []triggers.Decision {
	var out []triggers.Decision
	for _, s := range h.sinks[id].Settlements() {
		out = append(out, s.Settlement.Decision)
	}
	return out
}

func (h *running) wantSources(id string, want ...string) {
	h.b.Helper()
	if got := h.sources(id); !slices.Equal(got, want) {
		h.b.Errorf("%s was given %q, want %q", id, got, want)
	}
}

func (h *running) wantSettled(id string, want ...triggers.Decision) {
	h.b.Helper()
	if got := h.settled(id); !slices.Equal(got, want) {
		h.b.Errorf("%s settled %q, want %q", id, got, want)
	}
}

// both runs a test in the modes in which blobs are found.
func both(t *testing.T, test func(t *testing.T, opts *blob.Options)) {
	for _, fast := range []bool{true, false} {
		t.Run(map[bool]string{true: "fast", false: "faithful"}[fast], func(t *testing.T) {
			t.Parallel()
			test(t, &blob.Options{WakeUp: fast})
		})
	}
}

func numbered(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("inbox/%04d", i))
	}
	return names
}

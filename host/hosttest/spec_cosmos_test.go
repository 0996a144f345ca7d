package hosttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

func cosmosApp(h functions.CosmosHandler, opts ...functions.CosmosOption) *functions.App {
	app := functions.New()
	app.CosmosDB("Changed", "shop", "orders", h, append([]functions.CosmosOption{functions.CreateLeases(), functions.FromBeginning()}, opts...)...)
	return app
}

// newCosmos starts a host whose container is there; its listener then runs.
func newCosmos(t *testing.T, opts *hosttest.Options) *hosttest.Host {
	t.Helper()
	h := hosttest.New(t, opts)
	h.CreateCosmos("shop", "orders")
	h.Advance(5 * time.Second) // the back-off of a listener that missed its container
	return h
}

// cosmosLease is the position of range 0 and its owner.
func cosmosLease(h *hosttest.Host) (continuation string) {
	for _, item := range h.CosmosItems("shop", "leases") {
		var l struct {
			LeaseToken        string
			ContinuationToken *string
		}
		if json.Unmarshal(item.Body, &l) == nil && l.LeaseToken == "0" && l.ContinuationToken != nil {
			continuation = *l.ContinuationToken
		}
	}
	return continuation
}

func idsOf(documents []functions.CosmosDocument) string {
	var ids []string
	for _, d := range documents {
		ids = append(ids, d.ID())
	}
	return strings.Join(ids, ",")
}

// A batch that fails without a policy is lost: one attempt, and the lease moves on.
func TestCosmosWithoutPolicy(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(_ context.Context, documents []functions.CosmosDocument) error {
		got = append(got, idsOf(documents))
		return errors.New("out of stock")
	})})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	h.WriteCosmos("shop", "orders", `{"id":"b"}`)
	h.WantAttempts("Changed", 2)
	h.WantSettled("Changed", triggers.Checkpointed, triggers.Checkpointed)
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if got := cosmosLease(h); got != `"2"` {
		t.Errorf("continuation %s", got)
	}
}

// With a policy of N retries a batch has N+1 attempts with the same documents while
// its range stands still; then the range moves on.
func TestCosmosPolicy(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(ctx context.Context, documents []functions.CosmosDocument) error {
		got = append(got, fmt.Sprintf("%s/%d", idsOf(documents), functions.Retry(ctx).RetryCount))
		if documents[0].ID() == "a" {
			return errors.New("out of stock")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	before := cosmosLease(h)
	h.Advance(3 * time.Minute)
	h.WriteCosmos("shop", "orders", `{"id":"b"}`)
	if got := cosmosLease(h); got != before {
		t.Errorf("the lease has moved from %s to %s during the retries", before, got)
	}
	h.AwaitSettled("Changed", triggers.Checkpointed)
	h.AwaitSettled("Changed", triggers.Checkpointed)
	if diff := cmp.Diff([]string{"a/0", "a/1", "a/2", "a/3", "a/4", "b/0"}, got); diff != "" {
		t.Errorf("batches/retries (-want +got):\n%s", diff)
	}
	if got := cosmosLease(h); got != `"2"` {
		t.Errorf("continuation %s", got)
	}
	var written []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.CheckpointWritten }) {
		written = append(written, r.Source+" "+r.Fields[1].Value)
	}
	if diff := cmp.Diff([]string{`shop/orders "1"`, `shop/orders "2"`}, written); diff != "" {
		t.Errorf("checkpoints in the journal (-want +got):\n%s", diff)
	}
}

// A container that does not exist is the listener's error, which names it and
// passes.
func TestCosmosMissingContainer(t *testing.T) {
	t.Parallel()
	calls := 0
	h := hosttest.New(t, &hosttest.Options{Handlers: cosmosApp(func(context.Context, []functions.CosmosDocument) error { calls++; return nil })})
	failed := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError })
	if len(failed) != 1 || !strings.Contains(failed[0].Error, `"orders"`) || !strings.Contains(failed[0].Error, `"shop"`) {
		t.Fatalf("errors %v", failed)
	}
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	h.Advance(5 * time.Second)
	if calls != 1 {
		t.Errorf("%d calls after the container was made, want 1", calls)
	}
}

// A listener that missed its container starts when the container is made, however
// long it would have waited; with wakeUp "faithful", when its wait is over.
func TestCosmosContainerWakesListener(t *testing.T) {
	t.Parallel()
	for wake, want := range map[string]int{"fast": 1, "faithful": 0} {
		t.Run(wake, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{Set: []string{"wakeUp=" + wake}, Handlers: cosmosApp(func(context.Context, []functions.CosmosDocument) error { return nil })})
			h.Advance(10 * time.Minute) // the wait is two minutes by now
			h.CreateCosmos("shop", "orders")
			h.WriteCosmos("shop", "orders", `{"id":"a"}`)
			h.WantAttempts("Changed", want)
			h.Advance(3 * time.Minute)
			h.WantAttempts("Changed", 1)
		})
	}
}

// A stop in a retry wait leaves the position: the batch comes again with count 0
// (spec host-and-retry 4.2).
func TestCosmosRestart(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(`{"version":"2.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	handlers := cosmosApp(func(ctx context.Context, documents []functions.CosmosDocument) error {
		got = append(got, fmt.Sprintf("%s/%d", idsOf(documents), functions.Retry(ctx).RetryCount))
		return errors.New("out of stock")
	}, functions.FixedDelay(4, time.Minute))
	// run is one life of the host.
	run := func(start time.Time, f func(clk *clock.Virtual, h *host.Host)) {
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
		h, err := host.New(dir, &host.Options{Clock: clk, Handlers: handlers, Store: db, Env: []string{
			"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsCosmosDB=" + hosttest.CosmosConnection,
		}})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("container", func() {
			_, err = h.Services().Cosmos().CreateContainer(context.Background(), cosmos.ContainerSpec{Database: "shop", Name: "orders"})
		})
		if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			t.Fatal(err)
		}
		clk.Do("start", func() { err = h.Start(context.Background()) })
		if err != nil {
			t.Fatal(err)
		}
		f(clk, h)
		closed := false
		clk.Do("close", func() {
			clock.NewGroup(clk, 0).Go("close", func() { err = h.Close(); closed = true })
		})
		if !clk.Until(func() bool { return closed }, time.Hour) || err != nil {
			t.Fatalf("closed %v: %v", closed, err)
		}
	}
	run(hosttest.Start, func(clk *clock.Virtual, h *host.Host) {
		clk.Do("write", func() {
			var c cosmos.Container
			if c, err = h.Services().Cosmos().Container(context.Background(), "shop", "orders"); err == nil {
				_, err = c.Create(context.Background(), []byte(`{"id":"a"}`))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		clk.Advance(90 * time.Second)
	})
	run(hosttest.Start.Add(time.Hour), func(clk *clock.Virtual, _ *host.Host) { clk.Advance(10 * time.Minute) })
	want := []string{"a/0", "a/1", "a/0", "a/1", "a/2", "a/3", "a/4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("batches/retries (-want +got):\n%s", diff)
	}
}

// A reload in a retry wait hands the range to the next generation at once, from
// count 0 (host-and-retry D-14). Nothing is lost and nothing is checkpointed
// meanwhile; what has changed during the wait comes with the batch, which is read
// anew.
func TestCosmosReload(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(ctx context.Context, documents []functions.CosmosDocument) error {
		got = append(got, fmt.Sprintf("%s/%d", idsOf(documents), functions.Retry(ctx).RetryCount))
		if len(got) < 4 {
			return errors.New("out of stock")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	before := cosmosLease(h)
	h.Advance(90 * time.Second)
	h.WriteCosmos("shop", "orders", `{"id":"b"}`)
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:03:00"}`); err != nil {
		t.Fatal(err)
	}
	if got := cosmosLease(h); got != before {
		t.Errorf("continuation %s after the reload, want %s", got, before)
	}
	lost := h.AwaitSettled("Changed", triggers.NotCheckpointed)
	kept := h.AwaitSettled("Changed", triggers.Checkpointed)
	if lost.Generation != 1 || kept.Generation != 2 {
		t.Errorf("settled in generations %d and %d, want 1 and 2", lost.Generation, kept.Generation)
	}
	if diff := cmp.Diff([]string{"a/0", "a/1", "a,b/0", "a,b/1"}, got); diff != "" {
		t.Errorf("batches/retries (-want +got):\n%s", diff)
	}
	if got := cosmosLease(h); got != `"2"` {
		t.Errorf("continuation %s", got)
	}
}

// A function that is removed by a reload gives its lease back; when it is there
// again it goes on where it was.
func TestCosmosReloadWithout(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(ctx context.Context, documents []functions.CosmosDocument) error {
		got = append(got, fmt.Sprintf("%s/%d", idsOf(documents), functions.Retry(ctx).RetryCount))
		if len(got) < 3 {
			return errors.New("out of stock")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	h.Advance(90 * time.Second)
	if err := h.Edit("host.json", `{"version":"2.0","functions":["Other"]}`); err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Changed", triggers.NotCheckpointed)
	h.Advance(10 * time.Minute)
	for _, item := range h.CosmosItems("shop", "leases") {
		if strings.Contains(string(item.Body), `"Owner":"`) {
			t.Errorf("lease %s", item.Body)
		}
	}
	if err := h.Edit("host.json", `{"version":"2.0"}`); err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Changed", triggers.Checkpointed)
	if diff := cmp.Diff([]string{"a/0", "a/1", "a/0"}, got); diff != "" {
		t.Errorf("batches/retries (-want +got):\n%s", diff)
	}
}

// Purging the leases makes a function start anew: the batch in work is not
// checkpointed, and the feed is read again from where the trigger says.
func TestCosmosPurgedLeases(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(ctx context.Context, documents []functions.CosmosDocument) error {
		got = append(got, fmt.Sprintf("%s/%d", idsOf(documents), functions.Retry(ctx).RetryCount))
		if idsOf(documents) == "b" {
			return errors.New("out of stock")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	h.AwaitSettled("Changed", triggers.Checkpointed)
	h.WriteCosmos("shop", "orders", `{"id":"b"}`)
	var err error
	h.Clock().Do("purge", func() { _, err = h.Services().Cosmos().Purge(t.Context(), "shop", "leases") })
	if err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Changed", triggers.NotCheckpointed)
	h.Advance(13 * time.Second)
	h.AwaitSettled("Changed", triggers.Checkpointed)
	if diff := cmp.Diff([]string{"a/0", "b/0", "a,b/0"}, got); diff != "" {
		t.Errorf("batches/retries (-want +got):\n%s", diff)
	}
	if got := cosmosLease(h); got != `"2"` {
		t.Errorf("continuation %s", got)
	}
	if bad := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError && r.Time.After(hosttest.Start) }); len(bad) != 0 {
		t.Errorf("errors %v", bad)
	}
}

// With a maxRetryCount of -1 a range stands still until its batch succeeds; the other
// ranges go on.
func TestCosmosForever(t *testing.T) {
	t.Parallel()
	broken, calls, done := true, 0, map[string]bool{}
	h := hosttest.New(t, &hosttest.Options{Handlers: cosmosApp(func(_ context.Context, documents []functions.CosmosDocument) error {
		for _, d := range documents {
			if d.ID() == "0" && broken {
				calls++
				return errors.New("out of stock")
			}
		}
		for _, d := range documents {
			done[d.ID()] = true
		}
		return nil
	}, functions.FixedDelay(-1, time.Minute))})
	var err error
	h.Clock().Do("container", func() {
		_, err = h.Services().Cosmos().CreateContainer(t.Context(), cosmos.ContainerSpec{Database: "shop", Name: "orders", Ranges: 2})
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(5 * time.Second)
	for n := range 20 {
		h.WriteCosmos("shop", "orders", fmt.Sprintf(`{"id":"%d"}`, n))
	}
	h.Advance(24 * time.Hour)
	if calls < 24*60 || len(done) == 0 || len(done) > 18 || done["0"] {
		t.Errorf("after a day: %d attempts, done %v", calls, done)
	}
	broken = false
	h.Advance(time.Minute)
	if len(done) != 20 {
		t.Errorf("at the end %d documents are done", len(done))
	}
	if lost := h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.Settled && r.Decision != string(triggers.Checkpointed)
	}); len(lost) != 0 {
		t.Errorf("not checkpointed: %v", lost)
	}
}

// Two functions of one app that watch a container share its ranges when their
// leases have one prefix, and both see every change when they have two.
func TestCosmosLeasePrefix(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, second string
		want         int // runs for one change
	}{{"equal", "", 1}, {"different", "b-", 2}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			calls := map[string]int{}
			for function, prefix := range map[string]string{"First": "", "Second": test.second} {
				app.CosmosDB(function, "shop", "orders", func(context.Context, []functions.CosmosDocument) error {
					calls[function]++
					return nil
				}, functions.CreateLeases(), functions.FromBeginning(), functions.Leases("leases", prefix))
			}
			h := newCosmos(t, &hosttest.Options{Handlers: app})
			for n := range 3 {
				h.WriteCosmos("shop", "orders", fmt.Sprintf(`{"id":"%d"}`, n))
				h.Advance(time.Minute)
				if got := calls["First"] + calls["Second"]; got != (n+1)*test.want {
					t.Errorf("%v runs after %d changes, want %d for each", calls, n+1, test.want)
				}
			}
			if lost := h.Select(func(r *journal.Record) bool {
				return r.Kind == journal.Settled && r.Decision == string(triggers.NotCheckpointed)
			}); len(lost) != 0 {
				t.Errorf("not checkpointed: %v", lost)
			}
		})
	}
}

// Only the embedded account is served.
func TestCosmosConnections(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, value, want string }{
		{"emulator", hosttest.CosmosConnection, ""},
		{"loopback", "AccountEndpoint=http://127.0.0.1:9000/;AccountKey=a2V5", ""},
		{"cloud", "AccountEndpoint=https://contoso.documents.azure.com:443/;AccountKey=a2V5", "only the embedded change feed is served"},
		{"something else", "UseDevelopmentStorage=true", "names no AccountEndpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var inError []string
			if test.want != "" {
				inError = []string{"Changed"}
			}
			h := hosttest.New(t, &hosttest.Options{
				Handlers: cosmosApp(func(context.Context, []functions.CosmosDocument) error { return nil }),
				Env:      []string{"AzureWebJobsCosmosDB=" + test.value}, InError: inError,
			})
			var got string
			if f := h.App().Function("Changed"); len(f.Faults) > 0 {
				got = f.Faults[0].Error()
			}
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("fault %q, want %q", got, test.want)
			}
		})
	}
}

// The output binding creates and replaces documents, which the change feed shows.
func TestCosmosOutput(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Import", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.CosmosOutput("out", "shop", "orders"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.CreateCosmos("shop", "orders")
	h.Send("orders", `[{"id":"1","n":1},{"id":"2"}]`)
	h.Send("orders", `{"id":"1","n":2}`)
	h.WantSettled("Import", triggers.Deleted, triggers.Deleted)
	var got []string
	for _, item := range h.CosmosItems("shop", "orders") {
		var v struct {
			ID string
			N  int
		}
		if err := json.Unmarshal(item.Body, &v); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%s=%d", v.ID, v.N))
	}
	if diff := cmp.Diff([]string{"1=2", "2=0"}, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	h.Send("orders", `{"n":3}`)
	h.AwaitSettled("Import", triggers.Released)
}

// Reset empties containers; the listener goes on.
func TestCosmosReset(t *testing.T) {
	t.Parallel()
	var got []string
	h := newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(_ context.Context, documents []functions.CosmosDocument) error {
		got = append(got, idsOf(documents))
		return nil
	})})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	h.Reset()
	if items := h.CosmosItems("shop", "orders"); len(items) != 0 {
		t.Errorf("left: %v", items)
	}
	h.WriteCosmos("shop", "orders", `{"id":"b"}`)
	h.WantSettled("Changed", triggers.Checkpointed)
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

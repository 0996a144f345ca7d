package blob_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/blob"
)

// A new blob runs the function once: at once where the service tells, within the
// scan's 2 s and the poll of the control queue otherwise (spec storage 9.1).
func TestNewBlobRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		h := b.start(opts, function{id: "f", pattern: "inbox/{name}"})
		b.upload("inbox/a.txt", "hello")
		if opts.WakeUp {
			h.wantSources("f", "inbox/a.txt")
		} else {
			h.wantSources("f")
		}
		b.clk.Advance(2 * time.Second)
		h.wantSources("f", "inbox/a.txt")
		b.clk.Advance(5 * time.Minute)
		h.wantSources("f", "inbox/a.txt")
		h.wantSettled("f", triggers.Deleted)
		if got := b.queue(control); len(got) != 0 {
			t.Errorf("control queue holds %q, want nothing", got)
		}
	})
}

// A name as long as the service allows leaves no room for the folders of its
// receipt. It is a version like others, and does not stop the scan.
func TestLongestNameRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		f := function{id: "f", pattern: "inbox/{name}"}
		h := b.start(opts, f)
		long, other := "inbox/"+strings.Repeat("x", 1024), "inbox/"+strings.Repeat("x", 1023)+"y"
		b.upload(long, "1")
		b.upload(other, "2")
		b.upload("inbox/z", "3")
		b.clk.Advance(time.Minute)
		h.wantSources("f", long, other, "inbox/z")
		h.stop()
		h = b.start(opts, f)
		b.clk.Advance(time.Minute)
		h.wantSources("f")
	})
}

// The rows of spec storage 9.3, each by itself: how often "inbox/a" is processed after
// a first time.
func TestBlobIsProcessedAgain(t *testing.T) {
	t.Parallel()
	type again struct {
		bench *bench
		host  *running
		opts  *blob.Options
		ctx   context.Context
		a     blobapi.Blob
	}
	restart := func(x *again, host string, f function) {
		x.host.stop()
		x.host = x.bench.startAs(host, x.opts, f)
	}
	f := function{id: "f", pattern: "inbox/{name}"}
	do := func(change func(x *again) error) func(x *again) {
		return func(x *again) {
			x.bench.Helper()
			x.bench.do(func(ctx context.Context) { x.ctx = ctx; x.bench.must(change(x)) })
		}
	}
	tests := []struct {
		name   string
		change func(x *again)
		id     string // of the function that is looked at
		want   int    // further runs
	}{
		{"content", func(x *again) { x.bench.upload("inbox/a", "other") }, "f", 1},
		{"same content again", func(x *again) { x.bench.upload("inbox/a", "one") }, "f", 1},
		{"metadata", do(func(x *again) error {
			_, err := x.a.SetMetadata(x.ctx, map[string]string{"k": "v"}, nil)
			return err
		}), "f", 1},
		{"HTTP properties", do(func(x *again) error {
			_, err := x.a.SetHeaders(x.ctx, blobapi.Headers{ContentType: "text/plain"}, nil)
			return err
		}), "f", 1},
		{"lease", do(func(x *again) error {
			lease, err := x.a.AcquireLease(x.ctx, 15*time.Second, "", nil)
			if err == nil {
				_, err = x.a.ReleaseLease(x.ctx, lease.ID, nil)
			}
			return err
		}), "f", 0},
		{"read", do(func(x *again) error {
			download, err := x.a.Get(x.ctx, nil)
			if err == nil {
				err = download.Body.Close()
			}
			return err
		}), "f", 0},
		{"host restart", func(x *again) { restart(x, hostID, f) }, "f", 0},
		{"receipts deleted, then a full scan", func(x *again) {
			for _, name := range x.bench.names(blob.HostContainer, "blobreceipts/") {
				x.bench.do(func(ctx context.Context) {
					x.bench.must(x.bench.storage.Container(blob.HostContainer).Blob(name).Delete(ctx, nil))
				})
			}
			restart(x, hostID, f)
		}, "f", 1},
		{"function renamed", func(x *again) { restart(x, hostID, function{id: "g", pattern: "inbox/{name}"}) }, "g", 1},
		{"host ID changed", func(x *again) { restart(x, "other-host", f) }, "f", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, opts *blob.Options) {
				b := newBench(t)
				x := &again{bench: b, opts: opts, a: b.blob("inbox/a")}
				x.host = b.start(opts, f)
				b.upload("inbox/a", "one")
				b.clk.Advance(10 * time.Second)
				x.host.wantSources("f", "inbox/a")
				first := x.host
				tt.change(x)
				b.clk.Advance(10 * time.Second)
				got := len(x.host.sources(tt.id))
				if x.host == first {
					got--
				}
				if got != tt.want {
					t.Errorf("%d further runs, want %d", got, tt.want)
				}
			})
		})
	}
}

// Changed twice before it is consumed: the first control message is dropped on
// the ETag's difference, and the newest version is processed once (9.3).
func TestChangedTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		h := b.start(opts, function{id: "f", pattern: "inbox/{name}", handle: succeed})
		b.do(func(context.Context) { h.sinks["f"].Close() })
		b.clk.Advance(time.Second)
		b.upload("inbox/a", "one")
		b.clk.Advance(5 * time.Second)
		b.upload("inbox/a", "two")
		b.clk.Advance(5 * time.Second)
		b.upload("inbox/a", "three")
		b.clk.Advance(5 * time.Second)
		if got := len(b.names(blob.HostContainer, "blobreceipts/")); got != 3 {
			t.Errorf("%d receipts, want one for each version", got)
		}
		b.do(func(context.Context) { h.sinks["f"].Open() })
		b.clk.Advance(10 * time.Second)
		h.wantSources("f", "inbox/a")
		h.wantSettled("f", triggers.Deleted, triggers.Deleted, triggers.Deleted)
		if note := h.sinks["f"].Settlements()[0].Settlement.Note; note != blob.NoteChanged {
			t.Errorf("first settlement says %q, want %q", note, blob.NoteChanged)
		}
	})
}

// Five failed deliveries, then the JSON in webjobs-blobtrigger-poison, and no more
// until the blob changes (spec storage 9.3, 20 row 7).
func TestFailingBlobBecomesPoison(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		h := b.start(opts, function{id: "Host.Functions.F", pattern: "inbox/{name}", handle: fail})
		b.upload("inbox/<a> b.txt", "x")
		b.clk.Advance(time.Minute)
		r := triggers.Released
		h.wantSettled("Host.Functions.F", r, r, r, r, triggers.Poisoned)
		for i, ev := range h.sinks["Host.Functions.F"].Handled() {
			if ev.DeliveryCount != int64(i+1) {
				t.Errorf("delivery %d has count %d", i+1, ev.DeliveryCount)
			}
		}
		var etag string
		b.do(func(ctx context.Context) {
			p, err := b.blob("inbox/<a> b.txt").Properties(ctx, nil)
			b.must(err)
			etag = p.ETag
		})
		want := []string{`{
  "Type": "BlobTrigger",
  "FunctionId": "Host.Functions.F",
  "BlobType": "BlockBlob",
  "ContainerName": "inbox",
  "BlobName": "<a> b.txt",
  "ETag": "` + strings.ReplaceAll(etag, `"`, `\"`) + `"
}`}
		if diff := cmp.Diff(b.queue(blob.PoisonQueue), want); diff != "" {
			t.Errorf("poison queue (-got +want):\n%s", diff)
		}
		last := h.sinks["Host.Functions.F"].Settlements()[4].Settlement
		if last.Target != blob.PoisonQueue || !strings.HasPrefix(last.Note, "Message has reached MaxDequeueCount of 5.") {
			t.Errorf("last settlement = %+v, want the poison queue", last)
		}
		b.clk.Advance(time.Hour)
		if n := len(h.sources("Host.Functions.F")); n != 5 {
			t.Errorf("%d runs after an hour, want 5 still", n)
		}
		b.upload("inbox/<a> b.txt", "y")
		b.clk.Advance(time.Minute)
		if n := len(h.sources("Host.Functions.F")); n != 10 {
			t.Errorf("%d runs after a new version, want 10", n)
		}
	})
}

func TestPoisonBlobThreshold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(&blob.Options{WakeUp: true, PoisonBlobThreshold: 2}, function{id: "f", pattern: "inbox", handle: fail})
	b.upload("inbox/a", "x")
	b.clk.Advance(time.Minute)
	h.wantSettled("f", triggers.Released, triggers.Poisoned)
}

// Two hosts on one storage, 1000 blobs: each is executed once (20 row 8).
func TestTwoHostsShareTheWork(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		// If blobs took no time, the host that polls first would process all of
		// them.
		work := func(ctx context.Context, _ *triggers.Event) triggers.Result {
			return triggers.Result{Err: b.clk.Sleep(ctx, time.Second), Attempts: 1}
		}
		one := b.start(opts, function{id: "f", pattern: "inbox/{name}", handle: work})
		two := b.start(opts, function{id: "f", pattern: "inbox/{name}", handle: work})
		names := numbered(1000)
		b.do(func(ctx context.Context) {
			for _, name := range names {
				b.must(put(ctx, b.storage, "inbox", strings.TrimPrefix(name, "inbox/"), "x"))
			}
		})
		b.clk.Advance(10 * time.Minute)
		count := map[string]int{}
		for _, h := range []*running{one, two} {
			n := h.sources("f")
			if len(n) == 0 {
				t.Error("a host did nothing")
			}
			for _, source := range n {
				count[source]++
			}
		}
		for _, name := range names {
			if count[name] != 1 {
				t.Fatalf("%s was executed %d times, want once", name, count[name])
			}
		}
	})
}

// The same for many interleavings, while a blob changes: every version is queued
// at most once, none runs twice, and the newest of each blob runs.
func TestAnyInterleaving(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		b := newBenchOn(t, &clock.VirtualOptions{Strict: true, Shuffle: true, Seed: seed})
		runs := map[string]int{} // by ETag
		count := func(_ context.Context, ev *triggers.Event) triggers.Result {
			runs[ev.Messages[0].Metadata["Properties"].(map[string]any)["ETag"].(string)]++
			return triggers.Result{Attempts: 1}
		}
		opts := &blob.Options{WakeUp: seed%2 == 0, MaxDegreeOfParallelism: 4}
		f := function{id: "f", pattern: "inbox/{name}", handle: count}
		one := b.start(opts, f)
		b.start(opts, f)
		names := numbered(10)
		writers := clock.NewGroup(b.clk, 0)
		b.do(func(ctx context.Context) {
			for _, name := range names {
				writers.Go("writer", func() {
					for range 3 {
						b.must(put(ctx, b.storage, "inbox", strings.TrimPrefix(name, "inbox/"), "x"))
						b.must(b.clk.Sleep(ctx, time.Second))
					}
				})
			}
		})
		b.clk.Advance(2 * time.Second)
		one.stop()
		b.clk.Advance(time.Minute)
		for etag, n := range runs {
			if n != 1 {
				t.Fatalf("seed %d: version %s ran %d times, want once", seed, etag, n)
			}
		}
		for _, name := range names {
			b.do(func(ctx context.Context) {
				p, err := b.blob(name).Properties(ctx, nil)
				b.must(err)
				if runs[p.ETag] != 1 {
					t.Fatalf("seed %d: the newest version of %s ran %d times, want once", seed, name, runs[p.ETag])
				}
			})
		}
	}
}

// Only the host with the lock lists containers; another takes over when it stops,
// and after the end of the lease when it does not say good-bye.
func TestOneHostScans(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	opts := &blob.Options{}
	one := b.start(opts, function{id: "f", pattern: "inbox/{name}"})
	two := b.start(opts, function{id: "f", pattern: "inbox/{name}"})
	b.do(func(ctx context.Context) {
		p, err := b.storage.Container(blob.HostContainer).Blob(blob.LockName(hostID)).Properties(ctx, nil)
		b.must(err)
		if p.Lease.State != "leased" {
			t.Errorf("lock is %s, want leased", p.Lease.State)
		}
	})
	b.clk.Advance(3 * time.Minute) // renewals
	one.stop()
	b.upload("inbox/a", "x")
	b.clk.Advance(10 * time.Second)
	two.wantSources("f", "inbox/a")
}

func TestPathPatternsDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "csv", pattern: "inbox/{name}.csv"}, function{id: "all", pattern: "inbox"}, function{id: "other", pattern: "outbox/{x}"})
	b.upload("inbox/a.csv", "x")
	b.upload("inbox/b.txt", "x")
	b.clk.Advance(time.Second)
	h.wantSources("csv", "inbox/a.csv")
	h.wantSources("all", "inbox/a.csv", "inbox/b.txt")
	h.wantSources("other")
}

// S-8: a blob written in the same second as the newest one seen is found.
func TestSameSecondIsNotMissed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	h := b.start(&blob.Options{}, function{id: "f", pattern: "inbox/{name}"}) // scans at once
	h.wantSources("f", "inbox/a")
	b.upload("inbox/b", "x")
	b.upload("inbox/a", "y")
	b.clk.Advance(10 * time.Second)
	h.wantSources("f", "inbox/a", "inbox/a", "inbox/b")
}

// A long listing takes time. The next pass finds blobs that are written behind
// it meanwhile, although the listing goes on to newer blobs; nothing runs twice.
func TestWrittenBehindTheListing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	b.upload("inbox/m", "x")
	pages := 0
	b.listed = func(ctx context.Context) {
		if pages++; pages > 1 {
			return
		}
		for _, name := range []string{"a", "b", "z"} { // the listing is between a and m
			b.must(b.clk.Sleep(ctx, 2*time.Second))
			b.must(put(ctx, b.storage, "inbox", name, "y"))
		}
	}
	h := b.start(&blob.Options{}, function{id: "f", pattern: "inbox/{name}"})
	b.clk.Advance(time.Minute)
	h.wantSources("f", "inbox/a", "inbox/m", "inbox/z", "inbox/a", "inbox/b")
}

// Blobs that were there before the host are found by the first pass.
func TestExistingBlobsAreProcessed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		b.upload("inbox/old", "x")
		b.clk.Advance(time.Hour)
		h := b.start(opts, function{id: "f", pattern: "inbox/{name}"})
		b.clk.Advance(time.Second)
		h.wantSources("f", "inbox/old")
	})
}

// A reload that brings a function for a container that others watch.
func TestNewFunctionGetsExistingBlobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
	b.upload("inbox/a", "x")
	h.stop()
	h = b.start(nil, function{id: "f", pattern: "inbox/{name}"}, function{id: "g", pattern: "inbox/{name}"})
	b.clk.Advance(10 * time.Second)
	h.wantSources("f")
	h.wantSources("g", "inbox/a")
}

// 9.1: a container that does not exist is waited for.
func TestMissingContainer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, opts *blob.Options) {
		b := newBench(t)
		h := b.start(opts, function{id: "f", pattern: "inbox/{name}"})
		b.clk.Advance(5 * time.Minute)
		b.upload("inbox/a", "x")
		b.clk.Advance(3 * time.Second)
		h.wantSources("f", "inbox/a")
	})
}

// A reader that begins anew beside a blob in work keeps the limit: that blob counts.
func TestLimitHoldsWhenBegunAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	failing := false
	b.fault = func(p storage.FaultPoint) error {
		if failing && p.Op == "Receive" && p.Queue == control && !p.After {
			failing = false
			return errors.New("not authorized")
		}
		return nil
	}
	var begun []string
	h := b.start(&blob.Options{WakeUp: true, MaxDegreeOfParallelism: 4}, function{id: "f", pattern: "inbox/{name}", handle: func(ctx context.Context, ev *triggers.Event) triggers.Result {
		begun = append(begun, fmt.Sprint(b.clk.Now().Sub(start)))
		if err := b.clk.Sleep(ctx, 10*time.Minute); err != nil {
			t.Error("the token of the delivery has ended")
		}
		return succeed(ctx, ev)
	}})
	b.clk.Do("again", h.sinks["f"].Again)
	b.upload("inbox/a", "x")
	failing = true
	b.upload("inbox/b", "x")
	b.clk.Advance(2 * time.Second)
	b.upload("inbox/c", "x") // taken when no more than one is in work
	b.clk.Advance(time.Hour)
	if diff := cmp.Diff(begun, []string{"0s", "1s", "10m0s"}); diff != "" {
		t.Errorf("deliveries began (-got +want):\n%s", diff)
	}
	if n := len(h.sinks["f"].Failures()); n != 1 {
		t.Errorf("failed %d times with a delivery in work, want once", n)
	}
	h.wantSettled("f", triggers.Deleted, triggers.Deleted, triggers.Deleted)
}

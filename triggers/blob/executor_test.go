package blob_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/blob"
)

// receipt returns the receipt of the version of inbox/a that there is now.
func (b *bench) receipt(ctx context.Context) blobapi.Blob {
	b.Helper()
	p, err := b.blob("inbox/a").Properties(ctx, nil)
	b.must(err)
	return b.storage.Container(blob.HostContainer).Blob("blobreceipts/" + hostID + "/f/" + p.ETag + "/inbox/a")
}

// incomplete writes a receipt as a host does that is about to queue inbox/a.
func (b *bench) incomplete(ctx context.Context) blobapi.Blob {
	b.Helper()
	_, err := b.storage.Container(blob.HostContainer).Create(ctx, nil)
	b.must(err)
	r := b.receipt(ctx)
	_, err = r.Put(ctx, strings.NewReader(""), &blobapi.PutOptions{Metadata: map[string]string{"Incomplete": "Incomplete"}})
	b.must(err)
	return r
}

func TestReceiptOfAQueuedVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(nil, function{id: "f", pattern: "inbox/{name}", handle: fail}) // complete says queued, not executed
	b.upload("inbox/a", "x")
	b.do(func(ctx context.Context) {
		p, err := b.receipt(ctx).Properties(ctx, nil)
		b.must(err)
		if len(p.Metadata) != 0 || p.ContentLength != 0 || p.Type != blobapi.BlockBlob || p.Lease.State != "available" {
			t.Errorf("receipt = %+v, want an empty block blob without metadata and lease", p)
		}
	})
	if got := b.names(blob.HostContainer, "blobreceipts/"); len(got) != 1 || !strings.Contains(got[0], `/"0x`) {
		t.Errorf("receipts = %q, want one with the ETag in quotes", got)
	}
}

// A host died between receipt and queueing: the next host claims the blob.
func TestIncompleteReceiptIsClaimed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	b.do(func(ctx context.Context) { b.incomplete(ctx) })
	h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
	h.wantSources("f", "inbox/a")
}

// While another host holds the lease the blob waits for a later pass; when that
// host has queued it, it is done.
func TestLeasedReceiptIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, finishes := range []bool{true, false} {
		t.Run(map[bool]string{true: "the other finishes", false: "the other dies"}[finishes], func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.upload("inbox/a", "x")
			var receipt blobapi.Blob
			var lease *blobapi.Lease
			b.do(func(ctx context.Context) {
				receipt = b.incomplete(ctx)
				var err error
				lease, err = receipt.AcquireLease(ctx, 30*time.Second, "", nil)
				b.must(err)
			})
			h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
			b.clk.Advance(10 * time.Second)
			h.wantSources("f")
			if finishes {
				b.do(func(ctx context.Context) {
					_, err := receipt.SetMetadata(ctx, nil, &blobapi.Conditions{LeaseID: lease.ID})
					b.must(err)
				})
				b.clk.Advance(time.Minute)
				h.wantSources("f")
				return
			}
			b.clk.Run(time.Minute) // somebody waits for it, so time jumps
			h.wantSources("f", "inbox/a")
		})
	}
}

// The steps of spec storage 9.2 that fail, once each.
func TestStepsThatFail(t *testing.T) {
	t.Parallel()
	isReceipt := func(p emulator.FaultPoint, op string) bool {
		return p.Op == op && !p.After && strings.HasPrefix(p.Blob, "blobreceipts/")
	}
	tests := []struct {
		name string
		hit  func(p emulator.FaultPoint) bool
		err  error
	}{
		{"receipt appears meanwhile", func(p emulator.FaultPoint) bool { return isReceipt(p, "Put") }, storage.NewError(storage.CodeBlobAlreadyExists)},
		{"receipt appears with a lease", func(p emulator.FaultPoint) bool { return isReceipt(p, "Put") }, storage.NewError(storage.CodeLeaseIDMissing)},
		{"lease is taken", func(p emulator.FaultPoint) bool { return isReceipt(p, "AcquireLease") }, storage.NewError(storage.CodeLeaseAlreadyPresent)},
		{"receipt vanishes", func(p emulator.FaultPoint) bool { return isReceipt(p, "AcquireLease") }, storage.NewError(storage.CodeBlobNotFound)},
		{"service is busy", func(p emulator.FaultPoint) bool { return isReceipt(p, "Properties") }, storage.NewError("ServerBusy")},
		{"queue is busy", func(p emulator.FaultPoint) bool { return p.Op == "Put" && p.Queue == control && !p.After }, bindings.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			hits := 0
			b.fault = func(p emulator.FaultPoint) error {
				if tt.hit(p) {
					if hits++; hits == 1 {
						return tt.err
					}
				}
				return nil
			}
			h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
			b.upload("inbox/a", "x")
			h.wantSources("f")
			if tt.name == "queue is busy" {
				b.do(func(ctx context.Context) {
					p, err := b.receipt(ctx).Properties(ctx, nil)
					b.must(err)
					if p.Lease.State != "available" || len(p.Metadata) != 1 {
						t.Errorf("receipt = %+v, want incomplete and not leased", p)
					}
				})
			}
			b.clk.Advance(1900 * time.Millisecond)
			h.wantSources("f")
			b.clk.Advance(200 * time.Millisecond) // the next pass
			h.wantSources("f", "inbox/a")
		})
	}
	t.Run("blob vanishes", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.fault = func(p emulator.FaultPoint) error {
			if p.Op == "Properties" && p.Container == "inbox" {
				return storage.NewError(storage.CodeBlobNotFound)
			}
			return nil
		}
		h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
		b.upload("inbox/a", "x")
		b.clk.Advance(10 * time.Second)
		h.wantSources("f")
	})
	t.Run("queue refuses for good", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		refused := errors.New("refused")
		b.fault = func(p emulator.FaultPoint) error {
			if p.Op == "Put" && p.Queue == control {
				return refused
			}
			return nil
		}
		h := b.start(nil, function{id: "f", pattern: "inbox/{name}"}, function{id: "g", pattern: "other-1/{name}"})
		b.upload("inbox/a", "x")
		if h.live != 0 || len(h.errs) != 2 || !errors.Is(h.errs[0], refused) {
			t.Errorf("%d listeners run, errors %v: want the listeners to end with the queue's error", h.live, h.errs)
		}
	})
}

// Another host completes the receipt between the first look and the lease.
func TestReceiptIsReadAgainUnderTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	b.do(func(ctx context.Context) { b.incomplete(ctx) })
	b.fault = func(p emulator.FaultPoint) error {
		if p.Op != "AcquireLease" || p.After || !strings.HasPrefix(p.Blob, "blobreceipts/") {
			return nil
		}
		_, err := b.storage.Container(p.Container).Blob(p.Blob).SetMetadata(context.Background(), nil, nil)
		return err
	}
	h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
	b.clk.Advance(time.Minute)
	h.wantSources("f")
}

// spec storage 7, the table of maxDegreeOfParallelism.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	type pair struct{ Batch, Threshold int }
	want := map[int]pair{1: {1, 0}, 2: {2, 0}, 3: {2, 1}, 16: {9, 7}, 63: {32, 31}, 64: {32, 32}, 100: {32, 68}}
	got := map[int]pair{}
	for n := range want {
		batch, threshold := blob.Concurrency(n)
		got[n] = pair{batch, threshold}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("batch and threshold (-got +want):\n%s", diff)
	}
}

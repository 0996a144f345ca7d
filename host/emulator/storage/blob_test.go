package storage_test

import (
	"testing"

	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

var blobFeatures = bindingtest.BlobFeatures{
	StrictRenew: true, ChecksEveryWrite: true, StrictNames: true, ResetsLease: true,
	RefusesSnapshotsWithDelimiter: true, Limits: true, RecreateAtOnce: true,
}

func TestBlobConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(*testing.T) *bindingtest.BlobBackend {
			clk := newVirtual()
			return &bindingtest.BlobBackend{
				Account:  storage.New(clk, nil),
				Features: blobFeatures,
				Do:       func(f func()) { clk.Do("test", f) },
				Now:      clk.Now,
				Advance:  clk.Advance,
			}
		})
	})
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		features := blobFeatures
		features.Limits = false // once is enough: they have nothing to do with time
		bindingtest.RunBlob(t, func(*testing.T) *bindingtest.BlobBackend {
			return &bindingtest.BlobBackend{Account: storage.New(clock.System(), nil), Features: features}
		})
	})
}

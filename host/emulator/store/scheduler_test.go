package store_test

import (
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// However long the same keys are written, the size on the disk stays a small
// multiple of the store's content.
func TestOldValuesAreCollected(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	opts := store.Options{}
	s, _ := onSmallDisk(t, d, *opts.WithMemTable(256 << 10))
	most := int64(0)
	for round := range 200 {
		for i := range 32 {
			must(t, set(s, fmt.Sprintf("key%02d", i), random(8<<10)))
		}
		if round > 20 {
			most = max(most, d.usedBy(".sst"))
		}
	}
	t.Logf("at most %d KiB in tables for 256 KiB", most>>10)
	if most > 8*mib {
		t.Errorf("tables have up to %d KiB, of 256 KiB that are stored", most>>10)
	}
}

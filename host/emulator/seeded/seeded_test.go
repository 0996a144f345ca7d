package seeded_test

import (
	"math/bits"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// Identifiers are the same in every version: tests of users hold them.
func TestIdentifiersAreStable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		seed, n uint64
		want    string
	}{
		{0, 1, "7ab40e09-0f36-4a7d-a220-a8397b1dcdaf"},
		{7, 1, "df2bbb95-38aa-4818-a3cb-e1e459320dd7"},
		{7, 2, "f2db4719-07f7-4261-844c-3cd7f43c661c"},
	} {
		if got := seeded.GUID(tt.seed, tt.n).String(); got != tt.want {
			t.Errorf("GUID(%d, %d) = %s, want %s", tt.seed, tt.n, got, tt.want)
		}
	}
}

func TestGUIDs(t *testing.T) {
	t.Parallel()
	seen := map[bindings.GUID]bool{}
	for seed := range uint64(4) {
		for n := range uint64(2_000) {
			id := seeded.GUID(seed, n+1)
			if seen[id] {
				t.Fatalf("GUID(%d, %d) = %s repeats", seed, n+1, id)
			}
			seen[id] = true
			if id[6]>>4 != 4 || id[8]>>6 != 2 {
				t.Fatalf("%s is no version 4 UUID", id)
			}
		}
	}
}

// One bit of the input changes about half of the output.
func TestMix(t *testing.T) {
	t.Parallel()
	changed := 0
	for bit := range 64 {
		changed += bits.OnesCount64(seeded.Mix(12345) ^ seeded.Mix(12345^1<<bit))
	}
	if mean := float64(changed) / 64; mean < 28 || mean > 36 {
		t.Errorf("one bit of the input changes %.1f bits", mean)
	}
}

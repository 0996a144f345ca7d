package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// FuzzLoad: an archive is loaded whole, or refused as damage or for its version with the
// store as it was. What is loaded is saved as an archive that loads as the same, and that
// is saved, byte for byte, as it came. Seal puts the right end on the text, so that more
// than the checksum is met.
func FuzzLoad(f *testing.F) {
	s := open(f, "", nil)
	id := writeFile(f, s, pattern(3000))
	must(f, apply(s, func(b *store.Batch) {
		b.Keep(id)
		b.Keep(id)
		b.Set([]byte("key"), pattern(300))
		b.Set([]byte("other"), nil)
	}))
	var saved bytes.Buffer
	must(f, s.Save(&saved))
	must(f, s.Close())
	f.Add(saved.Bytes(), false)
	f.Add(saved.Bytes()[:saved.Len()-sha256.Size-1], true)
	const title = "redeliver state 2\n"
	for _, records := range []string{"", "K\x01a\x01b", "K\x01b\x00K\x01a\x00", "K\x01a\x01bK\x01a\x01c", "K\x00\x00", "K\x01\x00\x00", "F\x01\x01\x00", "F\x02\x01\x01xF\x01\x01\x00", "F\x01\x00\x00", "F\x01\x01\x7fx", "K\xff\xff\xff\x1f"} {
		f.Add([]byte(title+records), true)
	}
	f.Add([]byte("redeliver state 1\n"), true)
	f.Fuzz(func(t *testing.T, archive []byte, seal bool) {
		if seal {
			archive = append(slices.Clone(archive), 'E')
			sum := sha256.Sum256(archive)
			archive = append(archive, sum[:]...)
		}
		s := open(t, "", nil)
		must(t, set(s, "now", "here"))
		if err := s.Load(bytes.NewReader(archive)); err != nil {
			var damage *store.CorruptError
			var version *store.VersionError
			if !errors.As(err, &damage) && !errors.As(err, &version) {
				t.Errorf("Load = %v, want CorruptError or VersionError", err)
			}
			expect(t, s, "now=here")
			return
		}
		want := dump(t, s)
		first := saveOf(t, s)
		again := open(t, "", nil)
		if err := again.Load(bytes.NewReader(first)); err != nil {
			t.Fatalf("what was loaded and saved is refused: %v", err)
		}
		if diff := cmp.Diff(dump(t, again), want); diff != "" {
			t.Errorf("loaded again (-got +want)\n%s", diff)
		}
		if second := saveOf(t, again); !bytes.Equal(second, first) {
			t.Errorf("saved again: %d bytes, %d before", len(second), len(first))
		}
	})
}

func saveOf(t *testing.T, s *store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		t.Fatal(fmt.Errorf("save: %w", err))
	}
	return b.Bytes()
}

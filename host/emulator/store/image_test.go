package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// An image holds what a store would hold after the same writes, and reads as it
// reads.
func TestImageIsLikeAStore(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	key := func() []byte { return []byte(fmt.Sprintf("k%02d", random.IntN(40))) }
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	batch, err := db.NewBatch()
	if err != nil {
		t.Fatal(err)
	}
	i := store.NewImage(func(w store.Writer) {
		for n := range 500 {
			switch start := key(); random.IntN(8) {
			case 0:
				w.Delete(start)
				batch.Delete(start)
			case 1:
				end := store.PrefixEnd(start[:2])
				w.DeleteRange(start, end)
				batch.DeleteRange(start, end)
			default:
				value := fmt.Append(nil, n)
				w.Set(start, value)
				batch.Set(start, value)
				value[0] = 'x' // theirs is a copy
			}
		}
	})
	if err := db.Apply(batch); err != nil {
		t.Fatal(err)
	}
	v, err := db.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	copied, err := store.ImageOf(v, "k")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		start, end := key(), key()
		for name, r := range map[string]store.Reader{"made": i, "copied": copied} {
			if diff := cmp.Diff(scan(t, v, start, end), scan(t, r, start, end)); diff != "" {
				t.Errorf("the image that was %s, from %s to %s (-store +image):\n%s", name, start, end, diff)
			}
			want, wantErr := v.Get(start)
			got, err := r.Get(start)
			if string(got) != string(want) || errors.Is(err, store.ErrNotFound) != errors.Is(wantErr, store.ErrNotFound) {
				t.Errorf("the image that was %s: Get(%s) = %q, %v; the store says %q, %v", name, start, got, err, want, wantErr)
			}
		}
	}
	again := store.NewImage(copied.CopyTo)
	if diff := cmp.Diff(scan(t, i, []byte{1}, nil), scan(t, again, []byte{1}, nil)); diff != "" {
		t.Errorf("after CopyTo (-want +got):\n%s", diff)
	}
}

func scan(t *testing.T, r store.Reader, start, end []byte) (out []string) {
	t.Helper()
	err := r.Scan(start, end, func(key, value []byte) error {
		out = append(out, string(key)+"="+string(value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

package store_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// contents returns every key of a store's user with its value.
func contents(t *testing.T, s *store.Store, start, end []byte) map[string]string {
	t.Helper()
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	out := map[string]string{}
	if err := v.Scan(start, end, func(key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSpace(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one, two := db.Space("one"), db.Space("two")
	if db.Space("") != db {
		t.Error("the space without a name is not the store")
	}
	write := func(s *store.Store, f func(b *store.Batch)) {
		t.Helper()
		b, err := s.NewBatch()
		if err != nil {
			t.Fatal(err)
		}
		f(b)
		if err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*store.Store{db, one, two} {
		write(s, func(b *store.Batch) {
			b.Set([]byte("k1"), []byte("v"))
			b.Set([]byte("k2"), []byte("v"))
			b.Set([]byte("\xff\xff"), []byte("last"))
		})
	}
	write(one, func(b *store.Batch) { b.Delete([]byte("k1")); b.Set([]byte("k3"), []byte("mine")) })
	write(two, func(b *store.Batch) { b.DeleteRange([]byte("k"), []byte("l")) })

	if diff := cmp.Diff(map[string]string{"k2": "v", "k3": "mine", "\xff\xff": "last"}, contents(t, one, []byte("a"), nil)); diff != "" {
		t.Errorf("space one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"\xff\xff": "last"}, contents(t, two, []byte("a"), nil)); diff != "" {
		t.Errorf("space two (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"k1": "v", "k2": "v"}, contents(t, db, []byte("k"), []byte("l"))); diff != "" {
		t.Errorf("the store (-want +got):\n%s", diff)
	}
	if v, err := one.Get([]byte("k3")); err != nil || string(v) != "mine" {
		t.Errorf("Get in space one = %q, %v", v, err)
	}
	if _, err := two.Get([]byte("k3")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get in space two: %v, want ErrNotFound", err)
	}

	// An archive that is made through one space holds all of them.
	var archive bytes.Buffer
	if err := two.Save(&archive); err != nil {
		t.Fatal(err)
	}
	other, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Load(&archive); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, one, []byte("a"), nil), contents(t, other.Space("one"), []byte("a"), nil)); diff != "" {
		t.Errorf("loaded space (-want +got):\n%s", diff)
	}
}

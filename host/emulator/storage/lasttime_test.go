package storage_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// The time of the last change is kept with it, in archives too, and each space
// has its own.
func TestLastTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	v := clock.NewVirtual(start, nil)
	defer v.Close()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := storage.Open(v, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := account.LastTime(db); err != nil || !got.IsZero() {
		t.Errorf("LastTime of an empty store = %v, %v", got, err)
	}
	v.Advance(3 * time.Hour)
	v.Inside("create", func() { err = s.Queue("orders").Create(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
	v.Advance(time.Hour) // nothing changes
	if got, err := account.LastTime(db); err != nil || !got.Equal(start.Add(3*time.Hour)) {
		t.Errorf("LastTime = %v, %v; want %v", got, err, start.Add(3*time.Hour))
	}
	if got, err := account.LastTime(db.Space("other")); err != nil || !got.IsZero() {
		t.Errorf("LastTime of another space = %v, %v", got, err)
	}

	var archive bytes.Buffer
	if err := s.Save(&archive); err != nil {
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
	if got, err := account.LastTime(other); err != nil || !got.Equal(start.Add(3*time.Hour)) {
		t.Errorf("LastTime of the archive = %v, %v; want %v", got, err, start.Add(3*time.Hour))
	}
}

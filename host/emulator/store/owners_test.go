package store_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// TestOwnersRefuseUnreadableStates: an archive that is sound, but has a record
// that the service which owns it cannot read, is refused before the state that is
// there goes.
func TestOwnersRefuseUnreadableStates(t *testing.T) {
	t.Parallel()
	for _, owner := range []struct {
		name, key string // of a record that cannot be read
		open      func(db *store.Store) error
	}{
		{"storage account", "c\x00docs", func(db *store.Store) error { _, err := storage.Open(clock.System(), db, nil); return err }},
		{"Service Bus", "buseorders\x00", func(db *store.Store) error { _, err := servicebus.Open(clock.System(), db, nil); return err }},
		{"Event Hubs", "hubhorders\x00", func(db *store.Store) error { _, err := eventhubs.Open(clock.System(), db, nil); return err }},
		{"Event Grid", "gridtorders", func(db *store.Store) error {
			g, err := eventgrid.Open(clock.System(), db, nil)
			if err == nil {
				t.Cleanup(func() { g.Close() })
			}
			return err
		}},
		{"Cosmos DB", "cosmosids", func(db *store.Store) error { _, err := cosmos.Open(clock.System(), db, nil); return err }},
	} {
		t.Run(owner.name, func(t *testing.T) {
			t.Parallel()
			archive := func(key, value string) *bytes.Buffer {
				db, err := store.OpenMemory(nil)
				must(t, err)
				defer func() { must(t, db.Close()) }()
				b, err := db.NewBatch()
				must(t, err)
				b.Set([]byte(key), []byte(value))
				must(t, db.Apply(b))
				var out bytes.Buffer
				must(t, db.Save(&out))
				return &out
			}
			db, err := store.OpenMemory(nil)
			must(t, err)
			t.Cleanup(func() { must(t, db.Close()) })
			must(t, owner.open(db))
			must(t, db.Load(archive("somebody else's", "kept")))
			var damage *store.CorruptError
			if err := db.Load(archive(owner.key, "junk")); !errors.As(err, &damage) {
				t.Errorf("Load = %v, want a CorruptError", err)
			}
			if got, err := db.Get([]byte("somebody else's")); string(got) != "kept" || err != nil {
				t.Errorf("the state before: %q, %v", got, err)
			}
		})
	}
}

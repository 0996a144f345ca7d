package host_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

// FuzzLoadState: whatever one record of a state says, the state is loaded, or refused with
// nothing changed. What is loaded goes on for an hour, can be saved, and other services
// that load what was saved save the same. The seeds are records of each kind.
func FuzzLoadState(f *testing.F) {
	w := newWorld(f, hosttest.Start, nil)
	var err error
	w.clk.Do("populate", func() { err = w.populate(context.Background(), rand.New(rand.NewPCG(1, 1))) })
	if err != nil {
		f.Fatal(err)
	}
	archive, _ := w.save(f)
	records := recordsOf(f, archive)
	kinds := map[string]bool{}
	for n, r := range records {
		if kind := string(r.key[:min(5, len(r.key))]); !kinds[kind] {
			kinds[kind] = true
			f.Add(uint16(n), r.value)
		}
	}
	for _, odd := range []string{"", "\x00", "null", "{}", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		f.Add(uint16(0), []byte(odd))
	}
	f.Fuzz(func(t *testing.T, n uint16, value []byte) {
		changed := slices.Clone(records)
		changed[int(n)%len(changed)].value = value
		e, clk := openServices(t)
		before, _ := savedState(t, e, clk)
		if err := loadState(e, clk, archiveOf(t, archive, changed)); err != nil {
			if err.Error() == "" {
				t.Error("refused without a reason")
			}
			if after, _ := savedState(t, e, clk); !bytes.Equal(after, before) {
				t.Errorf("refused, %v, and changed", err)
			}
			return
		}
		saved, keys := savedState(t, e, clk)
		other, beside := openServices(t)
		if err := loadState(other, beside, saved); err != nil {
			t.Fatalf("what was loaded and saved is refused: %v", err)
		}
		if _, again := savedState(t, other, beside); !slices.Equal(again, keys) {
			t.Errorf("saved again (-got +want)\n%s", cmp.Diff(again, keys))
		}
		clk.Advance(time.Hour)
		savedState(t, e, clk)
	})
}

// A record is a key of a state.
type record struct{ key, value []byte }

func recordsOf(t testing.TB, archive []byte) (records []record) {
	t.Helper()
	db := loaded(t, archive)
	defer db.Close()
	v, err := db.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	err = v.Scan([]byte{1}, nil, func(key, value []byte) error {
		records = append(records, record{bytes.Clone(key), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// archiveOf is an archive with other records.
func archiveOf(t testing.TB, archive []byte, records []record) []byte {
	t.Helper()
	db := loaded(t, archive)
	defer db.Close()
	b, err := db.NewBatch()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		b.Set(r.key, r.value)
	}
	if err := db.Apply(b); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := db.Save(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func loaded(t testing.TB, archive []byte) *store.Store {
	t.Helper()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Load(bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	return db
}

// openServices are services in memory, with nothing in them.
func openServices(t testing.TB) (*services.Embedded, *clock.Virtual) {
	t.Helper()
	clk := clock.NewVirtual(hosttest.Start, nil)
	e, err := services.Open(clk, &services.Options{
		Record: func(journal.Record) {}, Made: func() {}, BlobEvent: func(string, blobs.Event) {},
		Function: func(string) eventgrid.Endpoint { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		clk.Do("stop", e.Stop)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		clk.Close()
	})
	return e, clk
}

func loadState(e *services.Embedded, clk *clock.Virtual, archive []byte) (err error) {
	clk.Do("load", func() {
		if _, err = e.Load(bytes.NewReader(archive)); err == nil {
			err = e.TakeUp()
		}
	})
	return err
}

func savedState(t testing.TB, e *services.Embedded, clk *clock.Virtual) (archive []byte, keys []string) {
	t.Helper()
	var b bytes.Buffer
	var err error
	clk.Do("save", func() { err = e.Save(&b) })
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), keysOf(t, b.Bytes())
}

package keep_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// service keeps one text, and counts how often it was set.
type service struct {
	*keep.State[kept]
	*testing.T
	mu     sync.Mutex
	db     *store.Store
	keeper *keep.Keeper
	kept
	loads    int
	replaced int
}

type kept struct {
	text  string
	count byte
	epoch uint64
}

var keys = keep.Keys{Service: "Test", Name: "the text", Prefix: "text", Time: "text time"} // read only

func newService(t *testing.T, db *store.Store) *service {
	t.Helper()
	s := &service{T: t, db: db}
	s.State, s.keeper = keep.New(clock.System(), &s.mu, keep.Kind[kept]{
		Keys: keys, Read: read, Replaced: func() { s.replaced++ },
		Take: func(fresh kept, from keep.Origin) {
			s.loads++
			fresh.epoch = from.Epoch
			if from.Follow {
				fresh.count = max(fresh.count, s.count)
			}
			s.kept = fresh
		},
		Write: func(c keep.Change) { c.Set([]byte("text"), []byte(s.text)) },
		Count: func(c *keep.Change) { c.Set([]byte("text count"), []byte{s.count}) },
	})
	if db != nil {
		if err := s.keeper.Open(db); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// read refuses the text "bad".
func read(r store.Reader, dir string) (out kept, err error) {
	text, err := r.Get([]byte("text"))
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	count, err := r.Get([]byte("text count"))
	if err == nil && (len(count) != 1 || string(text) == "bad") {
		err = &store.CorruptError{Path: dir, Err: errors.New("the text is bad")}
	}
	if err != nil {
		return out, err
	}
	return kept{text: string(text), count: count[0]}, nil
}

// set is an operation; between runs in its middle.
func (s *service) set(text string, between func()) error {
	s.mu.Lock()
	err := s.keeper.Ready()
	var commit keep.Awaited
	if err == nil {
		c := s.keeper.Change()
		s.text = text
		s.count++
		between()
		c.Set([]byte("text"), []byte(text))
		commit, err = s.keeper.Begin(&c)
	}
	s.mu.Unlock()
	if waitErr := s.keeper.Wait(context.Background(), commit); err == nil {
		err = waitErr
	}
	return err
}

func (s *service) begin(c *keep.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.keeper.Begin(c)
	return err
}

func (s *service) want(text string, count byte, loads int) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.keeper.Ready(); err != nil {
		s.Fatal(err)
	}
	if s.text != text || s.count != count || s.loads != loads {
		s.Errorf("the text is %q of %d after %d loads, want %q of %d after %d", s.text, s.count, s.loads, text, count, loads)
	}
}

func nothing() {}

// The memory is read once, and again when the state was replaced, but not after an
// operation that changes nothing. Counters go on.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newService(t, newStore(t))
	s.want("", 0, 1)
	if err := s.set("a", nothing); err != nil {
		t.Fatal(err)
	}
	s.want("a", 1, 1)
	c := s.keeper.Change()
	if err := s.begin(&c); err != nil {
		t.Fatal(err)
	}
	s.want("a", 1, 1)
	if err := s.db.Reset(); err != nil {
		t.Fatal(err)
	}
	s.want("", 1, 2)
	if s.epoch != 1 {
		t.Errorf("the epoch is %d after a reset, want 1", s.epoch)
	}
}

// A change of a state that is replaced before it is written, at whatever moment, is
// refused and goes into no other state; the memory, which was ahead, is read again.
func TestReplacedInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newService(t, newStore(t))
	if err := s.set("a", nothing); err != nil {
		t.Fatal(err)
	}
	reset := func() {
		if err := s.db.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.set("b", reset); !errors.Is(err, bindings.ErrUnavailable) || !errors.Is(err, keep.ErrReplaced) {
		t.Errorf("a change of a state that is no more: %v", err)
	}
	s.want("", 2, 2)

	c := s.keeper.Change()
	c.Set([]byte("text"), []byte("c"))
	reset()
	if err := s.begin(&c); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("a change that had begun: %v", err)
	}
	s.want("", 2, 3)
}

// Without a store nothing is kept and nothing fails.
func TestNoStore(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if err := s.set("a", nothing); err != nil {
		t.Fatal(err)
	}
	s.want("a", 1, 0)
	if c := s.keeper.Change(); c.Writable() || c.Written() {
		t.Error("a change of nothing can be written")
	}
}

// A change that is discarded leaves nothing behind.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newService(t, newStore(t))
	s.want("", 0, 1)
	c := s.keeper.Change()
	c.Set([]byte("text"), []byte("a"))
	c.Discard()
	if err := s.begin(&c); err != nil || c.Written() {
		t.Errorf("Begin of a discarded change = %v", err)
	}
	if _, err := s.db.Get([]byte("text")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
}

// A snapshot brings the state back, what is counted and the epoch included; Load lets
// the count go on. With a store and without one the same comes of it, and the store
// has it.
func TestReplace(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*store.Store{"memory": nil, "store": newStore(t)} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, db)
			epoch := uint64(0)
			if db != nil { // what a state of the same epoch brings back is known by it
				if err := db.Reset(); err != nil {
					t.Fatal(err)
				}
				epoch = 1
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(s.set("a", nothing))
			image, err := s.Snapshot()
			must(err)
			must(s.set("b", nothing))
			must(s.Restore(image))
			loads := s.loads
			s.want("a", 1, loads)
			if s.epoch != epoch || image.Epoch != epoch {
				t.Errorf("restored the epoch %d of an image of %d, want %d", s.epoch, image.Epoch, epoch)
			}
			must(s.set("b", nothing))
			must(s.set("c", nothing))
			must(s.Load(image))
			s.want("a", 3, loads+1)
			if s.replaced != 2 {
				t.Errorf("told of %d replacements, want 2", s.replaced)
			}
			if db == nil {
				return
			}
			if again := newService(t, db); again.text != "a" || again.count != 3 {
				t.Errorf("the store has %q of %d, want %q of 3", again.text, again.count, "a")
			}
		})
	}
}

// An unreadable state replaces nothing, and the store refuses an archive with it.
func TestRefused(t *testing.T) {
	t.Parallel()
	bad := newStore(t)
	w, err := bad.NewBatch()
	if err != nil {
		t.Fatal(err)
	}
	w.Set([]byte("text"), []byte("bad"))
	w.Set([]byte("text count"), []byte{1})
	if err := bad.Apply(w); err != nil {
		t.Fatal(err)
	}
	image := store.NewImage(func(w store.Writer) {
		w.Set([]byte("text"), []byte("bad"))
		w.Set([]byte("text count"), []byte{1})
	})
	var archive bytes.Buffer
	if err := bad.Save(&archive); err != nil {
		t.Fatal(err)
	}
	s := newService(t, newStore(t))
	if err := s.set("good", nothing); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Restore": s.Restore(image), "Load": s.Load(image), "Check": s.Check(image), "Load of the store": s.db.Load(&archive),
	} {
		var corrupt *store.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s of a bad state = %v, want a *store.CorruptError", name, err)
		}
	}
	s.want("good", 1, 1)
}

func TestLastTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC)
	db := newStore(t)
	wantTime := func(want time.Time) {
		t.Helper()
		if got, err := keys.LastTime(db); err != nil || !got.Equal(want) {
			t.Errorf("LastTime = %v, %v; want %v", got, err, want)
		}
	}
	wantTime(time.Time{})
	clk := clock.NewVirtual(at, nil)
	var mu sync.Mutex
	_, keeper := keep.New(clk, &mu, keep.Kind[kept]{Keys: keys, Read: read, Take: func(kept, keep.Origin) {}})
	if err := keeper.Open(db); err != nil {
		t.Fatal(err)
	}
	clk.Inside("change", func() {
		c := keeper.Change()
		c.Set([]byte("text"), nil)
		commit, err := keeper.Begin(&c)
		if err == nil {
			err = keeper.Wait(context.Background(), commit)
		}
		if err != nil {
			t.Error(err)
		}
	})
	wantTime(at)
	w, err := db.NewBatch()
	if err != nil {
		t.Fatal(err)
	}
	w.Set([]byte(keys.Time), []byte("x"))
	if err := db.Apply(w); err != nil {
		t.Fatal(err)
	}
	var corrupt *store.CorruptError
	if _, err := keys.LastTime(db); !errors.As(err, &corrupt) {
		t.Errorf("LastTime of damage = %v, want a *store.CorruptError", err)
	}
}

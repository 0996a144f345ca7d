package keep_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// service keeps one text.
type service struct {
	*testing.T
	db     *store.Store
	keeper keep.Keeper
	text   string
	loads  int
}

func newService(t *testing.T) *service {
	t.Helper()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &service{T: t, db: db, keeper: keep.New(clock.System(), db)}
}

func (s *service) ready() error {
	return s.keeper.Ready(func(v *store.View, _ string) error {
		s.loads++
		text, err := v.Get([]byte("text"))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		s.text = string(text)
		return nil
	})
}

// set is an operation; between is what somebody else does in its middle.
func (s *service) set(text string, between func()) error {
	if err := s.ready(); err != nil {
		return err
	}
	c := s.keeper.Change()
	s.text = text
	between()
	c.Set([]byte("text"), []byte(text))
	commit, err := s.keeper.Begin(&c)
	if waitErr := s.keeper.Wait(context.Background(), commit); err == nil {
		err = waitErr
	}
	return err
}

func (s *service) want(text string, loads int) {
	s.Helper()
	if err := s.ready(); err != nil {
		s.Fatal(err)
	}
	if s.text != text || s.loads != loads {
		s.Errorf("the text is %q after %d loads, want %q after %d", s.text, s.loads, text, loads)
	}
}

func nothing() {}

// The memory is read once, and again when the state was replaced, but not after an
// operation that changes nothing.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.want("", 1)
	if err := s.set("a", nothing); err != nil {
		t.Fatal(err)
	}
	s.want("a", 1)
	c := s.keeper.Change()
	if _, err := s.keeper.Begin(&c); err != nil {
		t.Fatal(err)
	}
	s.want("a", 1)
	if err := s.db.Reset(); err != nil {
		t.Fatal(err)
	}
	s.want("", 2)
}

// A change of a state that is replaced before it is written, at whatever moment, is
// refused and goes into no other state; the memory, which was ahead, is read again.
func TestReplacedInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newService(t)
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
	s.want("", 2)

	c := s.keeper.Change()
	c.Set([]byte("text"), []byte("c"))
	reset()
	if _, err := s.keeper.Begin(&c); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("a change that had begun: %v", err)
	}
	s.want("", 3)
}

// Without a store nothing is kept and nothing fails.
func TestNoStore(t *testing.T) {
	t.Parallel()
	s := &service{T: t, keeper: keep.New(clock.System(), nil)}
	if err := s.set("a", nothing); err != nil {
		t.Fatal(err)
	}
	s.want("a", 0)
	if c := s.keeper.Change(); c.Writable() || c.Written() {
		t.Error("a change of nothing can be written")
	}
}

// A change that is discarded leaves nothing behind.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.want("", 1)
	c := s.keeper.Change()
	c.Set([]byte("text"), []byte("a"))
	c.Discard()
	if _, err := s.keeper.Begin(&c); err != nil || c.Written() {
		t.Errorf("Begin of what was discarded = %v", err)
	}
	if _, err := s.db.Get([]byte("text")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.UTC)
	i := store.NewImage(func(w store.Writer) {
		c := keep.Into(w)
		c.SetTime("time", at)
		c.SetTime("zero", time.Time{})
		c.Set([]byte("bad"), []byte("x"))
	})
	for key, want := range map[string]time.Time{"time": at, "zero": {}, "none": {}} {
		if got, err := keep.TimeOf(i, key, "this", "dir"); err != nil || !got.Equal(want) {
			t.Errorf("TimeOf(%s) = %v, %v; want %v", key, got, err, want)
		}
	}
	var corrupt *store.CorruptError
	if _, err := keep.TimeOf(i, "bad", "this", "dir"); !errors.As(err, &corrupt) {
		t.Errorf("TimeOf damage = %v, want a *store.CorruptError", err)
	}
}

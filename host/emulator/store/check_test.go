package store_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// Each owner sees its own space of the new state, and one that refuses leaves the
// store as it was.
func TestLoadAsksTheOwners(t *testing.T) {
	t.Parallel()
	from := open(t, t.TempDir(), nil)
	must(t, set(from, "k", "whole"))
	must(t, set(from.Space("one"), "k", "of one"))
	var archive bytes.Buffer
	must(t, from.Save(&archive))

	s := open(t, t.TempDir(), nil)
	must(t, set(s, "k", "before"))
	refused := errors.New("refused")
	var answer error
	seen := map[string]string{}
	for _, space := range []string{"", "one"} {
		s.Space(space).Check(func(v *store.View) error {
			value, err := v.Get([]byte("k"))
			seen[space] = string(value)
			if space == "one" {
				err = errors.Join(err, answer)
			}
			return err
		})
	}
	opening, _ := s.Opening()
	answer = refused
	if err := s.Load(bytes.NewReader(archive.Bytes())); !errors.Is(err, refused) {
		t.Errorf("Load = %v, want the owner's error", err)
	}
	if seen[""] != "whole" || seen["one"] != "of one" {
		t.Errorf("the owners saw %q", seen)
	}
	if now, err := s.Opening(); err != nil || now != opening {
		t.Errorf("Opening after a refused Load = %d, %v, want %d", now, err, opening)
	}
	expect(t, s, "k=before")
	answer = nil
	must(t, s.Load(&archive))
	if value, err := s.Space("one").Get([]byte("k")); err != nil || string(value) != "of one" {
		t.Errorf("loaded %q, %v", value, err)
	}
}

// All waits for a commit get its answer.
func TestManyWaitForACommit(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), &store.Options{Sync: true})
	b, err := s.NewBatch()
	must(t, err)
	b.Set([]byte("k"), []byte("v"))
	c, err := s.Begin(b)
	must(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := c.Wait(); err != nil || !c.Durable() {
				t.Errorf("Wait = %v, durable %v", err, c.Durable())
			}
		})
	}
	group.Wait()
}

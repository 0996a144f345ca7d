package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// crash is a store whose process, or power, goes at one operation on a file.
type crash struct {
	opts  store.Options
	power bool // all goes that is not on the disk
	once  bool // the operation fails, and the end comes a while later

	fs    store.Powered
	at    int64 // number of the operation
	mu    sync.Mutex
	ops   int64 // that there were
	what  atomic.Pointer[string]
	left  atomic.Pointer[store.FileSystem] // what the end has left
	model []map[string]string              // after each batch that began, and at the beginning
	acked int                              // the last one that was acknowledged
}

func (c *crash) fault(op store.FileOp, path string) error {
	if op == store.OpRead {
		return nil
	}
	c.mu.Lock() // nobody meets the end before it is noted
	defer c.mu.Unlock()
	c.ops++
	n := c.ops
	if c.once && n == c.at {
		return syscall.EIO
	}
	end := c.at
	if c.once {
		end += 12
	}
	if n < end {
		return nil
	}
	if n == end {
		left := store.FileSystem(c.fs)
		if c.power {
			left = c.fs.Lost()
		}
		what := fmt.Sprintf("%s %s", op, path)
		c.what.Store(&what)
		c.left.Store(&left)
	}
	return syscall.EIO
}

// work changes keys until the end comes, or all is done.
func (c *crash) work(t *testing.T, random *rand.Rand) {
	settled, err := store.OpenOn(c.fs, (&store.Options{Sync: true}).WithSegment(1<<10)) // a new one has nothing to lose
	must(t, err)
	must(t, set(settled, "a", "0"))
	must(t, settled.Close())
	c.model = []map[string]string{{"a": "0"}}
	opts := c.opts
	opts.Fault = c.fault
	s, err := store.OpenOn(c.fs, opts.WithSegment(1<<10))
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }() // the last one: a process that has ended writes nothing
	key := func() string { return fmt.Sprintf("k%02d", random.IntN(20)) }
	for range 50 {
		if c.left.Load() != nil {
			return
		}
		next := maps.Clone(c.model[len(c.model)-1])
		switch random.IntN(25) {
		case 0:
			c.model = append(c.model, map[string]string{})
			c.done(t, s, s.Reset())
			continue
		case 1:
			var state bytes.Buffer
			if s.Save(&state) == nil {
				c.model = append(c.model, next)
				c.done(t, s, s.Load(&state))
			}
			continue
		case 2:
			if s.Close(); c.left.Load() != nil {
				return
			}
			again, err := store.OpenOn(c.fs, opts.WithSegment(1<<10))
			if err != nil {
				if again, err = store.OpenOn(c.fs, opts.WithSegment(1<<10)); err != nil {
					if c.left.Load() == nil {
						t.Errorf("open again: %v", err)
					}
					return
				}
			}
			s = again
			continue
		}
		err := write(s, func(b *store.Batch) {
			for range 1 + random.IntN(3) {
				switch k := key(); random.IntN(8) {
				case 0:
					b.Delete([]byte(k))
					delete(next, k)
				case 1:
					end := key()
					b.DeleteRange([]byte(k), []byte(end))
					maps.DeleteFunc(next, func(at, _ string) bool { return at >= k && at < end })
				default:
					next[k] = fmt.Sprint(len(c.model), strings.Repeat("v", random.IntN(100)))
					b.Set([]byte(k), []byte(next[k]))
				}
			}
		})
		c.model = append(c.model, next)
		c.done(t, s, err)
	}
}

// done notes what became of the last batch.
func (c *crash) done(t *testing.T, s *store.Store, err error) {
	switch {
	case c.left.Load() != nil:
	case err != nil:
		c.recovered(t, s)
	default:
		c.acked = len(c.model) - 1
	}
}

// recovered finds out what a failure has left, and goes on with that.
func (c *crash) recovered(t *testing.T, s *store.Store) {
	for range 3 {
		if err := s.Recover(); err != nil {
			continue
		}
		got, err := keysAndValues(s)
		if errors.Is(err, store.ErrFailed) {
			continue
		}
		if c.left.Load() != nil {
			return
		}
		must(t, err)
		c.matches(t, "after the failure", got, c.acked)
		c.model = append(c.model, got)
		c.acked = len(c.model) - 1
		return
	}
	if c.left.Load() == nil {
		t.Errorf("the store does not recover from one failure: %v", s.Recover())
	}
}

// matches says whether some keys are those after a batch, from the last that must be there.
func (c *crash) matches(t *testing.T, when string, got map[string]string, least int) {
	t.Helper()
	for i := len(c.model) - 1; i >= least; i-- {
		if maps.Equal(c.model[i], got) {
			return
		}
	}
	i := slices.IndexFunc(c.model, func(m map[string]string) bool { return maps.Equal(m, got) })
	t.Errorf("%s: %d keys, like batch %d (-1: none) of %d, %d acknowledged", when, len(got), i, len(c.model)-1, c.acked)
}

func keysAndValues(s *store.Store) (map[string]string, error) {
	v, err := s.View()
	if err != nil {
		return nil, err
	}
	got := map[string]string{}
	err = v.Scan([]byte{1}, nil, func(key, value []byte) error { got[string(key)] = string(value); return nil })
	return got, errors.Join(err, v.Close())
}

// The end comes at each operation on a file in turn, as a kill or as a loss of power, at
// once or a while after the operation has failed. What was acknowledged is there again; a
// loss of power without Sync costs the last batches, and no more.
func TestTheEndComesAtEachOperation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ sync, power, once bool }{
		{}, {sync: true}, {power: true}, {sync: true, power: true}, {once: true}, {sync: true, once: true},
		{sync: true, power: true, once: true},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			t.Parallel()
			for at, over := int64(1), false; !over && !t.Failed(); at++ {
				c := &crash{opts: store.Options{Sync: test.sync}, power: test.power, once: test.once, fs: store.PoweredFS(), at: at}
				c.work(t, rand.New(rand.NewPCG(uint64(at/40), 5)))
				if c.left.Load() == nil {
					over = true
					continue
				}
				when := fmt.Sprintf("at operation %d, %s", at, *c.what.Load())
				for range 2 { // the second reads what the first has written
					s, err := store.OpenOn(*c.left.Load(), c.opts.WithSegment(1<<10))
					if err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					got, err := keysAndValues(s)
					must(t, err)
					least := c.acked
					if test.power && !test.sync {
						least = 0
					}
					c.matches(t, when, got, least)
					got["last"] = when
					must(t, set(s, "last", when))
					must(t, s.Close())
					c.model = append(c.model, got)
					c.acked = len(c.model) - 1
				}
			}
		})
	}
}

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// engines counts the goroutines in which engines live.
func engines() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "created by github.com/redeliver/redeliver/host/emulator/store.")
}

// Callers go on and on while the disk is full, or has room only for so much that
// the opening of the state begins and then fails. The state is not opened for each
// of them, and what is given up leaves nothing behind: no goroutine, no open file,
// no memory. Not parallel: it counts what the process has.
func TestOutageCostsNothing(t *testing.T) {
	const calls = 500
	for name, fails := range map[string]func(op store.FileOp, path string) bool{
		"Full":      func(op store.FileOp, _ string) bool { return op == store.OpWrite || op == store.OpCreate },
		"LogFails":  func(op store.FileOp, path string) bool { return op == store.OpWrite && strings.HasSuffix(path, ".log") },
		"SyncFails": func(op store.FileOp, path string) bool { return op == store.OpSync && strings.HasSuffix(path, ".log") },
	} {
		t.Run(name, func(t *testing.T) {
			var full atomic.Bool
			var openings atomic.Int64
			opts := &store.Options{Fault: func(op store.FileOp, path string) error {
				if op == store.OpRead && strings.HasSuffix(path, "CHECK") {
					openings.Add(1)
				}
				if full.Load() && fails(op, path) {
					return syscall.ENOSPC
				}
				return nil
			}}
			s := open(t, t.TempDir(), opts)
			must(t, set(s, "a", strings.Repeat("x", 100_000)))
			must(t, set(s, "b", "1"))
			before := engines()
			full.Store(true)
			openings.Store(0)
			for range calls {
				_, err := s.Ready()
				if err == nil {
					err = set(s, "c", "2")
				}
				if !errors.Is(err, store.ErrDiskFull) {
					t.Fatalf("a write = %v, want ErrDiskFull", err)
				}
			}
			if n := openings.Load(); n > 20 {
				t.Errorf("%d calls opened the state %d times", calls, n)
			}
			if n := engines(); n > 2*before+2 {
				t.Errorf("engines live in %d goroutines, %d before", n, before)
			}
			full.Store(false)
			must(t, s.Recover())
			must(t, set(s, "d", "4"))
			if n := len(dump(t, s)); n < 3 {
				t.Errorf("%d keys, want the acknowledged ones", n)
			}
		})
	}
}

// While writes are refused, all acknowledged data can be read, saved and followed by
// earlier readers. The next write that finds room is taken, and views from the time
// between still hold.
func TestReadsInAnOutage(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		var full atomic.Bool
		opts.Fault = func(op store.FileOp, _ string) error {
			if full.Load() && (op == store.OpWrite || op == store.OpCreate) {
				return syscall.ENOSPC
			}
			return nil
		}
		s := open(t, dir, &opts)
		id := writeFile(t, s, pattern(100_000))
		must(t, apply(s, func(b *store.Batch) { b.Set([]byte("a"), []byte("1")); b.Keep(id) }))
		full.Store(true)
		if err := set(s, "b", "2"); !errors.Is(err, store.ErrDiskFull) {
			t.Fatalf("a write = %v, want ErrDiskFull", err)
		}
		opening, err := s.Ready()
		must(t, err)
		expect(t, s, "a=1")
		if got, err := readFile(s, id); err != nil || !bytes.Equal(got, pattern(100_000)) {
			t.Errorf("the file has %d bytes, %v", len(got), err)
		}
		var archive bytes.Buffer
		must(t, s.Save(&archive))
		v, err := s.View()
		must(t, err)
		f, err := s.OpenFile(id)
		must(t, err)

		b, err := s.NewBatch()
		must(t, err)
		b.Set([]byte("c"), []byte("3"))
		b.Release(id)
		full.Store(false)
		must(t, s.Apply(b))
		if now, err := s.Opening(); err != nil || now != opening {
			t.Errorf("Opening = %d, %v, want %d as while it was read only", now, err, opening)
		}
		expect(t, s, "a=1", "c=3")
		if value, err := v.Get([]byte("a")); err != nil || string(value) != "1" {
			t.Errorf("a view from before = %q, %v", value, err)
		}
		p := make([]byte, f.Size())
		if n, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, pattern(100_000)) {
			t.Errorf("a file that was open: %d bytes, %v", n, err)
		}
		must(t, errors.Join(f.Close(), v.Close()))
		if _, err := readFile(s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the file that was released = %v, want ErrNotFound", err)
		}
		must(t, s.Load(&archive))
		expect(t, s, "a=1")
	})
}

// The beginning and the end of an outage are told once each, and it ends although
// nobody writes.
func TestOutageIsTold(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	told := make(chan string, 100)
	opts := &store.Options{
		Fault: func(op store.FileOp, _ string) error {
			if full.Load() && op == store.OpWrite {
				return syscall.ENOSPC
			}
			return nil
		},
		Refusing: func(reason error) { told <- fmt.Sprint(errors.Is(reason, store.ErrDiskFull)) },
	}
	s := open(t, t.TempDir(), opts)
	must(t, set(s, "a", "1"))
	full.Store(true)
	for range 50 {
		_, _ = s.Ready()
		_ = set(s, "b", "2")
	}
	if got := <-told; got != "true" {
		t.Errorf("the first thing told is no full disk")
	}
	full.Store(false)
	if got := <-told; got != "false" {
		t.Errorf("the outage is told twice")
	}
	must(t, set(s, "c", "3"))
	if len(told) > 0 {
		t.Error("more is told than the beginning and the end")
	}
}

// The news of one outage is told before the news of the next, however soon it
// follows.
func TestOutagesAreToldInTurns(t *testing.T) {
	t.Parallel()
	for range 5 {
		var full atomic.Bool
		var mu sync.Mutex
		var told []string
		ending, goOn := make(chan struct{}), make(chan struct{})
		opts := &store.Options{
			Fault: func(op store.FileOp, _ string) error {
				if full.Load() && op == store.OpWrite {
					return syscall.ENOSPC
				}
				return nil
			},
			Refusing: func(reason error) {
				if reason == nil {
					ending <- struct{}{}
					<-goOn
				}
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprint(errors.Is(reason, store.ErrDiskFull)))
			},
		}
		s := open(t, "", opts)
		full.Store(true)
		refused(t, add(s, "a", "1"))
		full.Store(false)
		must(t, s.Recover())
		<-ending
		full.Store(true)
		refused(t, add(s, "a", "1"))
		for range 100 {
			runtime.Gosched()
		}
		goOn <- struct{}{}
		full.Store(false)
		must(t, s.Recover())
		<-ending
		goOn <- struct{}{}
		must(t, s.Close())
		if got := strings.Join(told, " "); got != "true false true false" {
			t.Fatalf("told: %s", got)
		}
	}
}

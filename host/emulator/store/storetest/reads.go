package storetest

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Reads is a service and what may tell of a change to it.
type Reads struct {
	// Write changes the service.
	Write func() error

	// Reads by name. Each tells, in its result or its error, what Write has changed.
	Reads map[string]func()
}

// RunReadsWait checks that with store.Options.Sync no answer shows a change that
// a loss of power could take back: every read waits until the disk has answered,
// which refuses the change. open is called with an empty store and works on real
// time.
func RunReadsWait(t *testing.T, open func(db *store.Store) (Reads, error)) {
	t.Helper()
	var held atomic.Bool
	reached, release := make(chan struct{}, 16), make(chan struct{})
	db, err := store.Open(t.TempDir(), &store.Options{Sync: true, Fault: func(op store.FileOp, path string) error {
		if op != store.OpSync || !held.Load() || !strings.HasSuffix(path, ".log") {
			return nil
		}
		reached <- struct{}{}
		<-release
		return syscall.EIO
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it has failed
	s, err := open(db)
	if err != nil {
		t.Fatal(err)
	}
	held.Store(true)
	written := make(chan error, 1)
	go func() { written <- s.Write() }()
	<-reached
	began, answers := make(chan struct{}), make(chan string, len(s.Reads))
	for name, read := range s.Reads {
		go func() {
			began <- struct{}{}
			read()
			answers <- name
		}()
		<-began
	}
	for range 2000 {
		runtime.Gosched()
	}
	early := len(answers)
	held.Store(false)
	close(release)
	for i := range len(s.Reads) {
		if name := <-answers; i < early {
			t.Errorf("%s told of a change that is not on the disk", name)
		}
	}
	if err := <-written; !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("the change = %v, want ErrUnavailable", err)
	}
}

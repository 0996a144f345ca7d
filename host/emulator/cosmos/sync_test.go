package cosmos_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// With Sync no feed, read or list shows a change that a loss of power could take
// back: each waits until the disk has answered. Here it refuses the change.
func TestReadsWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
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
	t.Cleanup(func() { _ = db.Close() })
	a, err := cosmos.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.CreateContainer(ctx, bindings.CosmosContainerSpec{Database: "shop", Name: "orders"})
	if err == nil {
		_, err = c.Create(ctx, []byte(`{"id":"kept"}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	reads := map[string]func(){
		"Changes":    func() { _, _ = c.Changes(ctx, "0", bindings.CosmosPosition{}, 0) },
		"Read":       func() { _, _ = c.Read(ctx, "new", `"new"`) },
		"Items":      func() { _, _ = c.Items(ctx, "") },
		"Containers": func() { _, _ = a.Containers(ctx) },
		"Create":     func() { _, _ = c.Create(ctx, []byte(`{"id":"new"}`)) }, // says that it is there
	}
	held.Store(true)
	written := make(chan error, 1)
	go func() { _, err := c.Create(ctx, []byte(`{"id":"new"}`)); written <- err }()
	<-reached
	began, answers := make(chan struct{}), make(chan string, len(reads))
	for name, read := range reads {
		go func() {
			began <- struct{}{}
			read()
			answers <- name
		}()
		<-began
	}
	for range 1000 {
		runtime.Gosched()
	}
	early := len(answers)
	held.Store(false)
	close(release)
	for i := range len(reads) {
		if name := <-answers; i < early {
			t.Errorf("%s told of a document that is not on the disk", name)
		}
	}
	if err := <-written; !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Create = %v, want ErrUnavailable", err)
	}
}

package eventgrid_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// counting counts what it is sent.
type counting struct{ n *atomic.Int64 }

func (c counting) Deliver(context.Context, *eventgrid.Request) (*eventgrid.Response, error) {
	c.n.Add(1)
	return &eventgrid.Response{Status: 500}, nil
}

// With Sync no answer shows a change that a loss of power could take back, and
// nothing is delivered before its publisher can know that it was taken: here the
// disk takes its time, while everybody looks.
func TestNothingIsSeenBeforeTheDiskHasIt(t *testing.T) {
	t.Parallel()
	var held atomic.Bool
	reached, release := make(chan struct{}, 64), make(chan struct{})
	db, err := store.OpenMemory(&store.Options{Sync: true, Fault: func(op store.FileOp, path string) error {
		if op == store.OpSync && held.Load() && strings.HasSuffix(path, ".log") {
			reached <- struct{}{}
			<-release
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sent, told, looked atomic.Int64
	g, err := eventgrid.Open(clock.System(), db, &eventgrid.Options{
		Function: func(string) eventgrid.Endpoint { return counting{&sent} },
		Record: func(r journal.Record) {
			if r.Kind == journal.Enqueued {
				told.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	g.Configure(eventgrid.Rules{})
	ctx := context.Background()
	if err := g.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Function: "F"}); err != nil {
		t.Fatal(err)
	}
	events, err := eventgrid.ParseEvents([]byte("["+eventJSON("e")+"]"), eventgrid.EventGridSchema)
	if err != nil {
		t.Fatal(err)
	}
	held.Store(true)
	done := make(chan error)
	go func() { done <- g.Publish(ctx, "orders", events...) }()
	<-reached
	began := make(chan bool)
	for _, look := range []func() error{
		func() error { return g.CreateTopic(ctx, eventgrid.Topic{Name: "new"}) },
		func() error {
			g.Deliveries("", "")
			looked.Add(1)
			return nil
		},
		func() error {
			g.Topics()
			looked.Add(1)
			return nil
		},
	} {
		go func() {
			began <- true
			done <- look()
		}()
		<-began
	}
	for range 1000 {
		runtime.Gosched()
	}
	if _, err := g.Topic("orders"); err != nil { // is on the disk: nobody has to wait for it
		t.Error(err)
	}
	if sent.Load()+told.Load()+looked.Load() > 0 {
		t.Errorf("before the disk had it: %d requests, %d events told of, %d answers to readers", sent.Load(), told.Load(), looked.Load())
	}
	held.Store(false)
	close(release)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := g.Topic("new"); err != nil {
		t.Error(err)
	}
	if told.Load() != 1 || looked.Load() != 2 {
		t.Errorf("afterwards: %d events told of, %d answers", told.Load(), looked.Load())
	}
}

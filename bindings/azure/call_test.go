package azure_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/blob"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
)

// Accounts outside this host wake no listener: neither their queues nor their blobs
// offer to (storage.md E-7).
func TestAccountsWakeNobody(t *testing.T) {
	t.Parallel()
	if _, ok := any(&azure.QueueAccount{}).(queue.Waker); ok {
		t.Error("queue accounts are a QueueWaker")
	}
	if _, ok := any(&azure.BlobAccount{}).(blob.Waker); ok {
		t.Error("blob accounts are a BlobWaker")
	}
}

// leaving makes calls outside a virtual clock, and counts them.
type leaving struct {
	t     *testing.T
	clk   *clock.Virtual
	calls int
}

func newLeaving(t *testing.T) *leaving {
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	t.Cleanup(clk.Close)
	return &leaving{t: t, clk: clk}
}

// options have the hook, and connections of the test's own.
func (l *leaving) options() *azure.Options {
	transport := &http.Transport{}
	l.t.Cleanup(transport.CloseIdleConnections)
	return &azure.Options{HTTPClient: &http.Client{Transport: transport}, Retries: -1, Call: l.call}
}

func (l *leaving) call(ctx context.Context, f func(ctx context.Context) error) (err error) {
	l.calls++
	l.clk.Outside(ctx, "call", func() { err = f(ctx) })
	return err
}

// made makes an operation from inside the clock, and wants it to be one call or more:
// the server is inside too, so that an operation which waits for it in there never ends.
func (l *leaving) made(what string, calls int, operation func() error) {
	l.t.Helper()
	l.calls = 0
	ended := make(chan error, 1)
	go l.clk.Inside("test", func() { ended <- operation() })
	select {
	case err := <-ended:
		if err != nil {
			l.t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(busPatience):
		l.t.Fatalf("%s waits for the service without leaving the clock", what)
	}
	if l.calls != calls {
		l.t.Errorf("%s: %d calls, want %d", what, l.calls, calls)
	}
}

// Every wait for a storage service is a call, for any caller, and nothing else is.
// The content of a blob is read in calls too.
func TestStorageCallsLeaveTheClock(t *testing.T) {
	t.Parallel()
	ctx, l := t.Context(), newLeaving(t)
	queues, err := azure.NewQueueAccount(openServer(t, l.clk, nil).connectionString(), l.options())
	if err != nil {
		t.Fatal(err)
	}
	q := queues.Queue("orders")
	l.made("create", 1, func() error { return q.Create(ctx) })
	l.made("put", 1, func() error { _, err := q.Put(ctx, "text", nil); return err })
	l.made("receive", 1, func() error { _, err := q.Receive(ctx, 1, time.Minute); return err })
	l.made("queues", 1, func() error { _, err := queues.Queues(ctx); return err })
	l.made("wrong name", 0, func() error {
		if err := queues.Queue("-").Create(ctx); !errors.Is(err, bindings.ErrInvalidName) {
			return errors.New("a queue may be named -")
		}
		return nil
	})

	blobs, err := azure.NewBlobAccount(openBlobServer(t, l.clk), l.options())
	if err != nil {
		t.Fatal(err)
	}
	c := blobs.Container("uploads")
	b := c.Blob("a")
	l.made("containers", 1, func() error { _, err := blobs.Containers(ctx, nil); return err })
	l.made("create", 1, func() error { _, err := c.Create(ctx, nil); return err })
	l.made("put", 1, func() error { _, err := b.Put(ctx, strings.NewReader("content"), nil); return err })
	l.made("lease", 1, func() error { _, err := b.AcquireLease(ctx, time.Minute, "", nil); return err })
	l.made("copy", 1, func() error {
		_, err := c.Blob("b").CopyFrom(ctx, blob.Source{Container: "uploads", Name: "a"}, nil)
		return err
	})
	var d *blob.Download
	l.made("get", 1, func() (err error) { d, err = b.Get(ctx, nil); return err })
	l.made("read", 1, func() error { _, err := io.ReadFull(d.Body, make([]byte, d.Range.Count)); return err })
	l.made("close", 1, func() error { return d.Body.Close() })
}

// A wait for a messaging service is a call.
func TestMessagingCallsLeaveTheClock(t *testing.T) {
	t.Parallel()
	ctx, l := t.Context(), newLeaving(t)
	d := openBusServer(t, l.clk, nil)
	l.clk.Inside("entities", func() {
		d.queue(t, servicebus.Queue{Name: "plain"})
		d.queue(t, servicebus.Queue{Name: "ordered", RequiresSession: true})
	})
	bus, err := azure.NewServiceBus(d.connectionString(), l.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bus.Close(context.Background()) })
	const wait = messaging.Forever
	message, id := &servicebus.Message{Body: []byte("x")}, "s"
	var (
		r       servicebus.Receiver
		got     []*servicebus.Received
		numbers []int64
	)
	l.made("send", 1, func() error { return bus.Send(ctx, "plain", message, message, message) })
	l.made("schedule", 1, func() (err error) {
		numbers, err = bus.Schedule(ctx, "plain", start.Add(time.Hour), message)
		return err
	})
	l.made("cancel", 1, func() error { return bus.CancelScheduled(ctx, "plain", numbers...) })
	l.made("receiver", 1, func() (err error) { r, err = bus.Receiver(ctx, "plain", nil); return err })
	l.made("receive", 1, func() (err error) { got, err = r.Receive(ctx, 3, wait); return err })
	if len(got) != 3 {
		t.Fatalf("received %d messages, want 3", len(got))
	}
	l.made("peek", 1, func() error { _, err := r.Peek(ctx, 0, 1); return err })
	l.made("renew", 1, func() error { _, err := r.Renew(ctx, got[0]); return err })
	l.made("complete", 1, func() error { return r.Complete(ctx, got[0]) })
	l.made("dead-letter", 1, func() error { return r.DeadLetter(ctx, got[1], "", "", nil) })
	l.made("defer", 1, func() error { return r.Defer(ctx, got[2], nil) })
	l.made("receive deferred", 1, func() (err error) { got, err = r.ReceiveDeferred(ctx, got[2].SequenceNumber); return err })
	l.made("abandon", 1, func() error { return r.Abandon(ctx, got[0], nil) })
	l.made("close", 1, func() error { return r.Close(ctx) })

	var s servicebus.Session
	l.made("accept", 1, func() (err error) {
		s, err = bus.AcceptSession(ctx, "ordered", &servicebus.SessionOptions{SessionID: &id})
		return err
	})
	l.made("state", 1, func() error { _, err := s.State(ctx); return err })
	l.made("set state", 1, func() error { return s.SetState(ctx, []byte("x")) })
	l.made("renew session", 1, func() error { _, err := s.RenewSession(ctx); return err })
	l.made("close session", 1, func() error { return s.Close(ctx) })

	far := openHubServer(t, l.clk, eventhubs.Hub{Name: "orders", Partitions: 1})
	hubs, err := azure.NewEventHubs(far.connectionString(), l.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hubs.Close(context.Background()) })
	var events eventhubsapi.Reader
	l.made("hub", 1, func() error { _, err := hubs.Hub(ctx, "orders"); return err })
	l.made("partition", 1, func() error { _, err := hubs.Partition(ctx, "orders", "0"); return err })
	l.made("send events", 1, func() error { return hubs.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{Body: []byte("x")}) })
	l.made("read events", 1, func() (err error) {
		events, err = hubs.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
		return err
	})
	l.made("receive events", 1, func() error { _, err := events.Receive(ctx, 1, wait); return err })
	l.made("close reader", 1, func() error { return events.Close(ctx) })
}

// The caller learns from errors whether the service is reached: not when
// the way to it fails, and not from the end of something, which succeeds
// either way.
func TestCallsTellWhetherTheServiceIsReached(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := openBusServer(t, clock.System(), nil)
	d.queue(t, servicebus.Queue{Name: "plain"})
	way := openProxy(t, d.addr)
	var said []error
	bus, err := azure.NewServiceBus(busConnectionString(way.addr()), &azure.Options{Retries: -1, Call: func(ctx context.Context, f func(ctx context.Context) error) error {
		err := f(ctx)
		said = append(said, err)
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	last := func() error { return said[len(said)-1] }
	r, err := bus.Receiver(ctx, "plain", nil)
	if err != nil || last() != nil {
		t.Fatalf("Receiver = %v, and the call %v", err, last())
	}
	way.in.Close()
	way.cut()
	if _, err := r.Receive(ctx, 1, messaging.Forever); !errors.Is(err, bindings.ErrUnreachable) || !errors.Is(last(), bindings.ErrUnreachable) {
		t.Errorf("Receive = %v, and the call %v, want ErrUnreachable", err, last())
	}
	// A call that waits would not say that the service is there: another one asks first.
	before := len(said)
	if _, err := r.Receive(ctx, 1, messaging.Forever); !errors.Is(err, bindings.ErrUnreachable) || len(said) != before+1 {
		t.Errorf("Receive again = %v in %d calls, want ErrUnreachable in 1", err, len(said)-before)
	}
	_ = r.Close(ctx)
	if !errors.Is(last(), messaging.ErrClosed) {
		t.Errorf("the call that closes = %v, want ErrClosed", last())
	}
	_ = bus.Close(ctx)
}

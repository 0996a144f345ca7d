package azure

import (
	"context"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// eventReader implements eventhubs.Reader. The client receives until it has a
// number of events or its context ends, and opens the link when it receives first.
// So a goroutine waits for the next event for as long as it takes, and the next
// caller takes the events that came with it.
type eventReader struct {
	hubs *EventHubs
	link *azeventhubs.PartitionClient
	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // the goroutine that waits

	*gate                               // guards what follows
	ready    []*eventhubs.ReceivedEvent // to be returned next
	underWay bool                       // the next event is waited for
	next     chan fetched               // where it comes
}

var _ eventhubs.Reader = (*eventReader)(nil)

// fetched is the result of waiting for an event.
type fetched struct {
	events []*azeventhubs.ReceivedEventData
	err    error
}

// openTime is how long ReadEvents gives the service to refuse a link: the client does
// not tell when it has one. An event ends the waiting.
const openTime = time.Second

// readerRetries is how often a reader that lost the service looks for it again before
// Receive fails.
func (o *Options) readerRetries() int {
	const usual = 3 // as the client has it
	switch {
	case o == nil || o.Retries == 0:
		return usual
	case o.Retries < 0:
		return 0
	}
	return o.Retries
}

func newEventReader(h *EventHubs, link *azeventhubs.PartitionClient) *eventReader {
	r := &eventReader{hubs: h, link: link, gate: newGate(), next: make(chan fetched, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// open begins to wait for the first event, and gives a refusal the time to come.
func (r *eventReader) open(ctx context.Context) error {
	_, err := r.receive(ctx, 0, openTime)
	return err
}

func (r *eventReader) Receive(ctx context.Context, n int, wait time.Duration) (out []*eventhubs.ReceivedEvent, err error) {
	err = r.hubs.line.call(ctx, func(ctx context.Context) (err error) {
		out, err = r.receive(ctx, n, wait)
		return err
	})
	return out, err
}

// receive returns up to n events once one is ready.
func (r *eventReader) receive(ctx context.Context, n int, wait time.Duration) ([]*eventhubs.ReceivedEvent, error) {
	within, cancel := waiting(ctx, wait)
	defer cancel()
	if ok, err := r.enter(ctx, within); !ok {
		return nil, err
	}
	defer r.leave()
	if r.isClosed() {
		return nil, messaging.ErrClosed
	}
	if len(r.ready) == 0 {
		if err := r.await(ctx, within); err != nil || len(r.ready) == 0 {
			return nil, err
		}
	}
	if len(r.ready) < n {
		r.collect(n - len(r.ready))
	}
	n = min(n, len(r.ready))
	out := r.ready[:n:n]
	r.ready = r.ready[n:]
	return out, nil
}

// await makes the next event ready, if it comes in time.
func (r *eventReader) await(ctx, within context.Context) error {
	if !r.underWay {
		r.underWay = true
		r.work.Go(func() { r.next <- r.first() })
	}
	select {
	case got := <-r.next:
		r.underWay = false
		if r.isClosed() {
			return messaging.ErrClosed
		}
		r.add(got.events)
		return translateHub(ctx, got.err)
	case <-r.closed:
		return messaging.ErrClosed
	case <-within.Done():
		return ctx.Err()
	}
}

// first waits for one event. Failures that are not the reader's, such as a
// lost connection, are tried again as often as the namespace's options say;
// the client goes on behind the last event.
func (r *eventReader) first() fetched {
	pause := messagingRetryDelay
	for left := r.hubs.retries; ; left-- {
		events, err := r.link.ReceiveEvents(r.life, 1, nil)
		if err == nil || left == 0 || r.life.Err() != nil || !isPassing(err) {
			return fetched{events, err}
		}
		select {
		case <-time.After(pause):
		case <-r.life.Done():
		}
		pause *= 2
	}
}

// collect makes events ready that came with the first one. A failure here comes
// again in the next Receive.
func (r *eventReader) collect(n int) {
	ctx, cancel := context.WithTimeout(r.life, batchPause)
	defer cancel()
	events, _ := r.link.ReceiveEvents(ctx, n, nil)
	r.add(events)
}

func (r *eventReader) add(events []*azeventhubs.ReceivedEventData) {
	for _, e := range events {
		r.ready = append(r.ready, incomingEvent(e))
	}
}

// closeTime is how long a service that does not answer may hold up Close. The client
// would give it a minute for the link and another for the session.
const closeTime = 3 * time.Second

func (r *eventReader) Close(ctx context.Context) error {
	return r.hubs.line.opts.end(ctx, r.close)
}

func (r *eventReader) close(ctx context.Context) error {
	return r.shut(func() error {
		ctx, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		r.end()
		r.turn <- struct{}{} // for good: its user hears of the end
		r.work.Wait()
		r.hubs.forget(r)
		return translateHub(ctx, r.link.Close(ctx))
	})
}

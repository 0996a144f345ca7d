package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
)

// outsideQueues are the queues of an account outside. They wake nobody
// (queue.Waker): messages are found by polling (storage.md E-7).
type outsideQueues struct {
	trip
	account queue.Account
}

func (a outsideQueues) Queue(name string) queue.Queue {
	return outsideQueue{a.trip, a.account.Queue(name)}
}

func (a outsideQueues) Queues(ctx context.Context) ([]string, error) {
	return away(ctx, a.trip, a.account.Queues)
}

// outsideQueue is a queue whose calls are made outside the clock.
type outsideQueue struct {
	trip
	queue queue.Queue
}

func (q outsideQueue) Name() string { return q.queue.Name() }

func (q outsideQueue) Create(ctx context.Context) error { return awayOnly(ctx, q.trip, q.queue.Create) }

func (q outsideQueue) Exists(ctx context.Context) (bool, error) {
	return away(ctx, q.trip, q.queue.Exists)
}

func (q outsideQueue) DeleteQueue(ctx context.Context) error {
	return awayOnly(ctx, q.trip, q.queue.DeleteQueue)
}

func (q outsideQueue) Put(ctx context.Context, text string, opts *queue.PutOptions) (*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) (*queue.Message, error) { return q.queue.Put(ctx, text, opts) })
}

func (q outsideQueue) Receive(ctx context.Context, max int, visibility time.Duration) ([]*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) ([]*queue.Message, error) {
		if q.epoch == nil {
			var end func()
			ctx, end = awaited(ctx)
			defer end()
		}
		return q.queue.Receive(ctx, max, visibility)
	})
}

// answerGrace is how long, in real time, an answer is waited for that takes something:
// without it nobody would know what to give back.
const answerGrace = 2 * time.Second

// awaited returns a context that outlives ctx by answerGrace.
func awaited(ctx context.Context) (longer context.Context, end func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx)) //clock:outside of a call to a service outside
	stop := context.AfterFunc(ctx, func() {                          //clock:outside of a call to a service outside
		grace := time.AfterFunc(answerGrace, cancel)       //clock:outside real time of a service outside
		context.AfterFunc(longer, func() { grace.Stop() }) //clock:outside of a call to a service outside
	})
	return longer, func() {
		stop()
		cancel()
	}
}

func (q outsideQueue) Peek(ctx context.Context, max int) ([]*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) ([]*queue.Message, error) { return q.queue.Peek(ctx, max) })
}

func (q outsideQueue) Update(ctx context.Context, id, popReceipt string, text *string, visibility time.Duration) (*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) (*queue.Message, error) {
		return q.queue.Update(ctx, id, popReceipt, text, visibility)
	})
}

func (q outsideQueue) Delete(ctx context.Context, id, popReceipt string) error {
	return awayOnly(ctx, q.trip, func(ctx context.Context) error { return q.queue.Delete(ctx, id, popReceipt) })
}

func (q outsideQueue) Clear(ctx context.Context) error { return awayOnly(ctx, q.trip, q.queue.Clear) }

func (q outsideQueue) Count(ctx context.Context) (int, error) {
	return away(ctx, q.trip, q.queue.Count)
}

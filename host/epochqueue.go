package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
)

// pastQueues are the queues of the embedded account as a listener of an epoch
// reaches them.
type pastQueues struct {
	trip
	account queue.Account
}

func (a pastQueues) Queue(name string) queue.Queue {
	return pastQueue{a.trip, a.account.Queue(name)}
}

func (a pastQueues) Queues(ctx context.Context) ([]string, error) {
	return away(ctx, a.trip, a.account.Queues)
}

// pastQueue is a queue whose calls are made outside the clock.
type pastQueue struct {
	trip
	queue queue.Queue
}

func (q pastQueue) Name() string { return q.queue.Name() }

func (q pastQueue) Create(ctx context.Context) error { return awayOnly(ctx, q.trip, q.queue.Create) }

func (q pastQueue) Exists(ctx context.Context) (bool, error) {
	return away(ctx, q.trip, q.queue.Exists)
}

func (q pastQueue) DeleteQueue(ctx context.Context) error {
	return awayOnly(ctx, q.trip, q.queue.DeleteQueue)
}

func (q pastQueue) Put(ctx context.Context, text string, opts *queue.PutOptions) (*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) (*queue.Message, error) { return q.queue.Put(ctx, text, opts) })
}

func (q pastQueue) Receive(ctx context.Context, max int, visibility time.Duration) ([]*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) ([]*queue.Message, error) {
		return q.queue.Receive(ctx, max, visibility)
	})
}

func (q pastQueue) Peek(ctx context.Context, max int) ([]*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) ([]*queue.Message, error) { return q.queue.Peek(ctx, max) })
}

func (q pastQueue) Update(ctx context.Context, id, popReceipt string, text *string, visibility time.Duration) (*queue.Message, error) {
	return away(ctx, q.trip, func(ctx context.Context) (*queue.Message, error) {
		return q.queue.Update(ctx, id, popReceipt, text, visibility)
	})
}

func (q pastQueue) Delete(ctx context.Context, id, popReceipt string) error {
	return awayOnly(ctx, q.trip, func(ctx context.Context) error { return q.queue.Delete(ctx, id, popReceipt) })
}

func (q pastQueue) Clear(ctx context.Context) error { return awayOnly(ctx, q.trip, q.queue.Clear) }

func (q pastQueue) Count(ctx context.Context) (int, error) {
	return away(ctx, q.trip, q.queue.Count)
}

package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/bindings"
)

// PutOrCreate adds a message and makes the queue first if it does not exist, as
// a queue output binding and the copy to a poison queue do.
func PutOrCreate(ctx context.Context, q Queue, text string, opts *PutOptions) (*Message, error) {
	m, err := q.Put(ctx, text, opts)
	if !errors.Is(err, bindings.ErrNotFound) {
		return m, err
	}
	if err := q.Create(ctx); err != nil {
		return nil, fmt.Errorf("create queue %q: %w", q.Name(), err)
	}
	return q.Put(ctx, text, opts)
}

package queue

import (
	"context"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Admin is the part of a queue service that only a REST server needs, and
// no trigger or binding: the data of a queue beside its messages, and the
// settings of the service. Queue accounts that can be served implement it
// beside Account; the two see the same queues.
//
// All methods may be called concurrently. Their errors are the errors of Queue:
// bindings.ErrInvalidName, bindings.ErrNotFound where the queue does not exist.
// Arguments are copied and results are copies.
type Admin interface {
	Settings

	// CreateQueue makes a queue with metadata. A queue that exists already with
	// the same metadata is left alone, and created is false; with other metadata
	// the error is bindings.ErrAlreadyExists.
	CreateQueue(ctx context.Context, name string, metadata map[string]string) (created bool, err error)

	// DeleteQueue removes the queue, its messages, metadata and policies.
	DeleteQueue(ctx context.Context, name string) error

	// QueueMetadata returns the queue's metadata, with names spelled as they were
	// set. Nil when there is none.
	QueueMetadata(ctx context.Context, name string) (map[string]string, error)

	// SetQueueMetadata replaces the queue's metadata as a whole.
	SetQueueMetadata(ctx context.Context, name string, metadata map[string]string) error

	// QueuePolicies returns the queue's stored access policies in the order in
	// which they were set.
	QueuePolicies(ctx context.Context, name string) ([]storage.AccessPolicy, error)

	// SetQueuePolicies replaces them; bindings.ErrOutOfRange for more than
	// storage.MaxAccessPolicies.
	SetQueuePolicies(ctx context.Context, name string, policies []storage.AccessPolicy) error
}

// Settings are the settings of an account's queue service.
type Settings interface {
	// QueueServiceProperties returns the settings of the account's queue service.
	QueueServiceProperties(ctx context.Context) (storage.ServiceProperties, error)

	// SetQueueServiceProperties replaces those settings that p names; a nil field
	// leaves its setting as it is.
	SetQueueServiceProperties(ctx context.Context, p storage.ServiceProperties) error
}

package bindings

import (
	"context"
	"errors"
	"time"
)

// ErrAlreadyExists: the thing to create is there already, and is not the same
// (QueueAlreadyExists).
var ErrAlreadyExists = errors.New("already exists")

// MaxAccessPolicies is how many stored access policies a queue or a container
// can have (docs: Define a stored access policy).
const MaxAccessPolicies = 5

// QueueAdmin is the part of a queue service that no trigger or binding needs,
// and a wire door does: what is kept about a queue beside its messages, and the
// settings of the service. Queue accounts that can be served implement it beside
// QueueAccount; the two see the same queues.
//
// All methods may be called concurrently. Their errors are those of Queue:
// ErrInvalidName, ErrNotFound where the queue does not exist. Arguments are
// copied and results are copies.
type QueueAdmin interface {
	// CreateQueue makes a queue with metadata. A queue that exists already with
	// the same metadata is left alone, and created is false; with other metadata
	// the error is ErrAlreadyExists.
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
	QueuePolicies(ctx context.Context, name string) ([]AccessPolicy, error)

	// SetQueuePolicies replaces them; ErrOutOfRange for more than
	// MaxAccessPolicies.
	SetQueuePolicies(ctx context.Context, name string, policies []AccessPolicy) error

	// QueueServiceProperties returns the settings of the account's queue service.
	QueueServiceProperties(ctx context.Context) (ServiceProperties, error)

	// SetQueueServiceProperties replaces those settings that p names; a nil field
	// leaves its setting as it is.
	SetQueueServiceProperties(ctx context.Context, p ServiceProperties) error
}

// AccessPolicy is a stored access policy: terms of access that shared access
// signatures name instead of carrying them. An empty field means that the
// signature has to carry it.
type AccessPolicy struct {
	ID         string // unique in the queue or container, up to 64 characters
	Start      time.Time
	Expiry     time.Time
	Permission string // letters, e.g. "raup" for queues
}

// ServiceProperties are the settings of one service of a storage account. A nil
// field has never been set.
//
// Source: docs, Set Queue Service Properties and Set Blob Service Properties.
type ServiceProperties struct {
	Logging        *LoggingProperties
	HourMetrics    *MetricsProperties
	MinuteMetrics  *MetricsProperties
	CORS           *[]CORSRule // an empty list is a setting: no rules
	DefaultVersion *string     // blobs only
	SoftDelete     *RetentionProperties
	StaticWebsite  *StaticWebsite // blobs only
}

// LoggingProperties are stored and reported; nothing is logged.
type LoggingProperties struct {
	Version             string
	Delete, Read, Write bool
	Retention           RetentionProperties
}

// MetricsProperties are stored and reported; nothing is measured.
type MetricsProperties struct {
	Version     string
	Enabled     bool
	IncludeAPIs *bool // only while enabled
	Retention   RetentionProperties
}

// RetentionProperties say how long something is kept.
type RetentionProperties struct {
	Enabled bool
	Days    int // 1 to 365 while enabled
}

// StaticWebsite is stored and reported; nothing is served.
type StaticWebsite struct {
	Enabled             bool
	IndexDocument       string
	ErrorDocument404    string
	DefaultIndexDocPath string
}

// CORSRule lets pages of other origins call the service. Lists are kept as they
// were set, separated by commas.
type CORSRule struct {
	AllowedOrigins, AllowedMethods, AllowedHeaders, ExposedHeaders string

	MaxAge int // seconds
}

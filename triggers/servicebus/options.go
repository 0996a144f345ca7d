package servicebus

import (
	"runtime"
	"time"
)

// Defaults of host.json's extensions.serviceBus (spec messaging 2.1).
const (
	DefaultMaxAutoLockRenewal          = 5 * time.Minute
	DefaultMaxConcurrentSessions       = 8
	DefaultMaxMessageBatchSize         = 1000
	DefaultMaxBatchWait                = 30 * time.Second
	DefaultSessionIdleTimeout          = time.Minute // clientRetryOptions.tryTimeout
	concurrentCallsPerProcessor        = 16
	defaultMaxConcurrentCallsInSession = 1
)

// DefaultMaxConcurrentCalls is the number of messages in work for a number of
// processors.
func DefaultMaxConcurrentCalls(processors int) int { return concurrentCallsPerProcessor * processors }

// Options are host.json's extensions.serviceBus and the rest of the binding. The
// zero Options, like nil, are the platform's defaults.
type Options struct {
	// LeaveUnsettled is autoCompleteMessages = false: after success nothing is
	// done, unless the handler asked for it, and the lock runs out.
	LeaveUnsettled bool

	// MaxConcurrentCalls is the number of messages in work. Zero:
	// DefaultMaxConcurrentCalls for the processors of this machine.
	MaxConcurrentCalls int

	// MaxAutoLockRenewal is how long after its receipt a lock is renewed. Zero:
	// DefaultMaxAutoLockRenewal; negative: without limit. Locks of batches
	// without a session are never renewed.
	MaxAutoLockRenewal time.Duration

	// NoAutoLockRenewal is a maxAutoLockRenewalDuration of zero.
	NoAutoLockRenewal bool

	// Sessions is isSessionsEnabled.
	Sessions bool

	// MaxConcurrentSessions is the number of sessions in work. Zero:
	// DefaultMaxConcurrentSessions.
	MaxConcurrentSessions int

	// MaxConcurrentCallsPerSession is the number of messages of one session in
	// work. Zero: 1.
	MaxConcurrentCallsPerSession int

	// SessionIdleTimeout is how long a session without a message is kept. Zero:
	// DefaultSessionIdleTimeout.
	SessionIdleTimeout time.Duration

	// Batch is cardinality = many.
	Batch bool

	// MaxMessageBatchSize bounds a batch. Zero: DefaultMaxMessageBatchSize.
	MaxMessageBatchSize int

	// MinMessageBatchSize is how many messages a batch waits for, for no longer
	// than MaxBatchWait from the first one. Zero: 1, which does not wait.
	MinMessageBatchSize int

	// MaxBatchWait is maxBatchWaitTime. Zero: DefaultMaxBatchWait; negative: none.
	MaxBatchWait time.Duration

	// DataType is the binding's dataType: "binary" or "stream" for bytes,
	// anything else for text.
	DataType string
}

// withDefaults fills in what is zero.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&out.MaxConcurrentCalls, DefaultMaxConcurrentCalls(runtime.NumCPU()))
	fill(&out.MaxConcurrentSessions, DefaultMaxConcurrentSessions)
	fill(&out.MaxConcurrentCallsPerSession, defaultMaxConcurrentCallsInSession)
	fill(&out.MaxMessageBatchSize, DefaultMaxMessageBatchSize)
	fill(&out.MinMessageBatchSize, 1)
	span := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	span(&out.MaxAutoLockRenewal, DefaultMaxAutoLockRenewal)
	span(&out.SessionIdleTimeout, DefaultSessionIdleTimeout)
	span(&out.MaxBatchWait, DefaultMaxBatchWait)
	if out.NoAutoLockRenewal {
		out.MaxAutoLockRenewal = 0
	}
	return out
}

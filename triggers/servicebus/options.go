package servicebus

import (
	"runtime"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// Options are host.json's extensions.serviceBus and the rest of the binding. The
// zero Options, like nil, are the platform's defaults.
type Options struct {
	// LeaveUnsettled is autoCompleteMessages = false: after success nothing is
	// done, unless the handler asked for it, and the lock runs out.
	LeaveUnsettled bool

	// MaxConcurrentCalls is the number of messages in work. Zero:
	// servicebus.DefaultMaxConcurrentCalls for the processors of this machine.
	MaxConcurrentCalls int

	// MaxAutoLockRenewal is how long after its receipt a lock is renewed. Zero:
	// servicebus.DefaultMaxAutoLockRenewal; negative: without limit. Locks of batches
	// without a session are never renewed.
	MaxAutoLockRenewal time.Duration

	// NoAutoLockRenewal is a maxAutoLockRenewalDuration of zero.
	NoAutoLockRenewal bool

	// Sessions is isSessionsEnabled.
	Sessions bool

	// MaxConcurrentSessions is the number of sessions in work. Zero:
	// servicebus.DefaultMaxConcurrentSessions.
	MaxConcurrentSessions int

	// MaxConcurrentCallsPerSession is the number of messages of one session in
	// work. Zero: 1.
	MaxConcurrentCallsPerSession int

	// SessionIdleTimeout is how long a session without a message is kept. Zero:
	// servicebus.DefaultTryTimeout.
	SessionIdleTimeout time.Duration

	// Batch is cardinality = many.
	Batch bool

	// MaxMessageBatchSize bounds a batch. Zero:
	// servicebus.DefaultMaxMessageBatchSize.
	MaxMessageBatchSize int

	// MinMessageBatchSize is how many messages a batch waits for, for no longer
	// than MaxBatchWait from the first one. Zero: 1, which does not wait.
	MinMessageBatchSize int

	// MaxBatchWait is maxBatchWaitTime. Zero: servicebus.DefaultMaxBatchWait; negative: none.
	MaxBatchWait time.Duration

	// DataType is the binding's dataType: "binary" or "stream" for bytes,
	// anything else for text.
	DataType string

	// TextMembers says that the members of a JSON body are metadata where the value is a
	// text only, as on the platform (host: WorkerFunctionInvoker.cs TransformInput): not
	// of bytes, nor of a deferred value.
	TextMembers bool

	// SessionActions adds what the session actions of .NET need to the metadata: when the
	// lock of the session ends, and the sessions of a batch as a list of texts.
	SessionActions bool

	// Value, if not nil, makes the value that the function receives, in the place of
	// DataType.
	Value func(m *servicebus.Received) bindings.Value
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
	fill(&out.MaxConcurrentCalls, servicebus.DefaultMaxConcurrentCalls(runtime.NumCPU()))
	fill(&out.MaxConcurrentSessions, servicebus.DefaultMaxConcurrentSessions)
	fill(&out.MaxConcurrentCallsPerSession, servicebus.DefaultMaxConcurrentCallsPerSession)
	fill(&out.MaxMessageBatchSize, servicebus.DefaultMaxMessageBatchSize)
	fill(&out.MinMessageBatchSize, servicebus.DefaultMinMessageBatchSize)
	span := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	span(&out.MaxAutoLockRenewal, servicebus.DefaultMaxAutoLockRenewal)
	span(&out.SessionIdleTimeout, servicebus.DefaultTryTimeout)
	span(&out.MaxBatchWait, servicebus.DefaultMaxBatchWait)
	if out.NoAutoLockRenewal {
		out.MaxAutoLockRenewal = 0
	}
	return out
}

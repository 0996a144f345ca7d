package hostjson

import (
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app/document"
)

// ServiceBus is extensions.serviceBus (spec messaging 2.1). The names of older
// extensions are read where the present ones are not set. Settings for clients
// of the cloud only (prefetchCount, transportType, clientRetryOptions) are not
// here.
type ServiceBus struct {
	AutoCompleteMessages bool
	// MaxAutoLockRenewalDuration is negative for no limit.
	MaxAutoLockRenewalDuration   time.Duration
	MaxConcurrentCalls           int
	MaxConcurrentSessions        int
	MaxConcurrentCallsPerSession int
	MaxMessageBatchSize          int
	MinMessageBatchSize          int
	MaxBatchWaitTime             time.Duration
	// SessionIdleTimeout is 0 when it is not set: the client's try timeout counts.
	SessionIdleTimeout time.Duration
	// TryTimeout is clientRetryOptions.tryTimeout.
	TryTimeout time.Duration
}

// infiniteSpan is how host.json writes a duration without end.
const infiniteSpan = -time.Millisecond

func readServiceBus(r document.Reader, processors int) ServiceBus {
	const at = "extensions.serviceBus"
	now := func(name string) string { return r.Current(at, name) }
	renewal := r.Span(now("maxAutoLockRenewalDuration"), servicebus.DefaultMaxAutoLockRenewal, math.MinInt64, document.Longest)
	if renewal < 0 {
		renewal = infiniteSpan
	}
	c := ServiceBus{
		AutoCompleteMessages:         r.Flag(now("autoCompleteMessages"), true),
		MaxAutoLockRenewalDuration:   renewal,
		MaxConcurrentCalls:           r.Number(now("maxConcurrentCalls"), servicebus.DefaultMaxConcurrentCalls(processors), 1, maxInt),
		MaxConcurrentSessions:        r.Number(now("maxConcurrentSessions"), servicebus.DefaultMaxConcurrentSessions, 1, maxInt),
		MaxConcurrentCallsPerSession: r.Number(now("maxConcurrentCallsPerSession"), servicebus.DefaultMaxConcurrentCallsPerSession, 1, maxInt),
		MaxMessageBatchSize:          r.Number(now("maxMessageBatchSize"), servicebus.DefaultMaxMessageBatchSize, 1, maxInt),
		MinMessageBatchSize:          r.Number(now("minMessageBatchSize"), servicebus.DefaultMinMessageBatchSize, 1, maxInt),
		MaxBatchWaitTime:             r.Span(now("maxBatchWaitTime"), servicebus.DefaultMaxBatchWait, 0, 150*time.Second),
		SessionIdleTimeout:           r.Span(now("sessionIdleTimeout"), 0, 1, document.Longest),
		TryTimeout:                   r.Span(now("clientRetryOptions.tryTimeout"), servicebus.DefaultTryTimeout, 1, document.Longest),
	}
	return c
}

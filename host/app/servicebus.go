package app

import (
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
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

func readServiceBus(r reader, processors int) ServiceBus {
	const at = "extensions.serviceBus"
	now := func(name string) string { return r.current(at, name) }
	renewal := r.span(now("maxAutoLockRenewalDuration"), servicebus.DefaultMaxAutoLockRenewal, math.MinInt64, longest)
	if renewal < 0 {
		renewal = infiniteSpan
	}
	c := ServiceBus{
		AutoCompleteMessages:         r.flag(now("autoCompleteMessages"), true),
		MaxAutoLockRenewalDuration:   renewal,
		MaxConcurrentCalls:           r.number(now("maxConcurrentCalls"), servicebus.DefaultMaxConcurrentCalls(processors), 1, maxInt),
		MaxConcurrentSessions:        r.number(now("maxConcurrentSessions"), servicebus.DefaultMaxConcurrentSessions, 1, maxInt),
		MaxConcurrentCallsPerSession: r.number(now("maxConcurrentCallsPerSession"), servicebus.DefaultMaxConcurrentCallsPerSession, 1, maxInt),
		MaxMessageBatchSize:          r.number(now("maxMessageBatchSize"), servicebus.DefaultMaxMessageBatchSize, 1, maxInt),
		MinMessageBatchSize:          r.number(now("minMessageBatchSize"), servicebus.DefaultMinMessageBatchSize, 1, maxInt),
		MaxBatchWaitTime:             r.span(now("maxBatchWaitTime"), servicebus.DefaultMaxBatchWait, 0, 150*time.Second),
		SessionIdleTimeout:           r.span(now("sessionIdleTimeout"), 0, 1, longest),
		TryTimeout:                   r.span(now("clientRetryOptions.tryTimeout"), servicebus.DefaultTryTimeout, 1, longest),
	}
	return c
}

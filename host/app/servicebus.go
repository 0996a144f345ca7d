package app

import (
	"math"
	"time"
)

// ServiceBus is extensions.serviceBus (servicebus 2.1). The names of older
// extensions are read where the present ones are not set. What only a client of
// the cloud needs (prefetchCount, transportType, clientRetryOptions) is not here.
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

func (r reader) serviceBus(processors int) ServiceBus {
	const at = "extensions.serviceBus."
	// older returns the path of a setting: the first that is set.
	older := func(names ...string) string {
		for _, name := range names {
			if r.has(at + name) {
				return at + name
			}
		}
		return at + names[0]
	}
	renewal := r.span(older("maxAutoLockRenewalDuration", "messageHandlerOptions.maxAutoRenewDuration"), 5*minute, math.MinInt64, longest)
	if renewal < 0 {
		renewal = infiniteSpan
	}
	c := ServiceBus{
		AutoCompleteMessages:         r.flag(older("autoCompleteMessages", "messageHandlerOptions.autoComplete", "batchOptions.autoComplete"), true),
		MaxAutoLockRenewalDuration:   renewal,
		MaxConcurrentCalls:           r.number(older("maxConcurrentCalls", "messageHandlerOptions.maxConcurrentCalls"), 16*processors, 1, maxInt),
		MaxConcurrentSessions:        r.number(older("maxConcurrentSessions", "sessionHandlerOptions.maxConcurrentSessions"), 8, 1, maxInt),
		MaxConcurrentCallsPerSession: r.number(at+"maxConcurrentCallsPerSession", 1, 1, maxInt),
		MaxMessageBatchSize:          r.number(older("maxMessageBatchSize", "batchOptions.maxMessageCount"), 1000, 1, maxInt),
		MinMessageBatchSize:          r.number(at+"minMessageBatchSize", 1, 1, maxInt),
		MaxBatchWaitTime:             r.span(at+"maxBatchWaitTime", 30*time.Second, 0, 150*time.Second),
		SessionIdleTimeout:           r.span(at+"sessionIdleTimeout", 0, 1, longest),
		TryTimeout:                   r.span(older("clientRetryOptions.tryTimeout", "batchOptions.operationTimeout", "retryOptions.tryTimeout"), minute, 1, longest),
	}
	return c
}

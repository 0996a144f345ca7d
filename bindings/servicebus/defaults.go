package servicebus

import "time"

// Defaults of host.json's extensions.serviceBus (spec messaging 2.1).
const (
	DefaultMaxAutoLockRenewal           = 5 * time.Minute
	DefaultMaxConcurrentSessions        = 8
	DefaultMaxConcurrentCallsPerSession = 1
	DefaultMaxMessageBatchSize          = 1000
	DefaultMinMessageBatchSize          = 1
	DefaultMaxBatchWait                 = 30 * time.Second
	DefaultTryTimeout                   = time.Minute // clientRetryOptions.tryTimeout
)

// DefaultMaxConcurrentCalls is the number of messages in work for a number of
// processors.
func DefaultMaxConcurrentCalls(processors int) int { return 16 * processors }

// DefaultForwardHops is how often a message is forwarded, unless redeliver.maxForwardHops
// says otherwise (spec host-and-retry 0.2).
const DefaultForwardHops = 4

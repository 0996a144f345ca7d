// Package retrycontext decides when a failed delivery is tried again, what the
// handler is told about it, and runs the loop that does both.
//
// Read [Policy] first (how many retries, how long between them), then
// [Context] (what an attempt sees), then [Do] (the loop). A handler author needs
// only [Context] and the outcomes [Permanent], [RetryNow] and [RetryAfter].
//
// Retry and redelivery are two things. This package repeats an attempt inside
// one delivery; handing the message out again, counting deliveries and moving
// poison messages belong to the service and the trigger. Nothing here knows a
// trigger, and nothing here looks at a clock: [Do] is given the function that
// waits, so that a test can make fifteen minutes pass at once.
//
// A policy of N retries gives at most N+1 attempts per delivery. Some published
// text counts N attempts instead; [Policy.Documented] turns a policy into that
// reading.
//
// The rules follow the loop of the Azure WebJobs SDK
// (FunctionExecutorExtensions.TryExecuteAsync) and its delay strategies
// (FixedDelayStrategy, RandomizedExponentialBackoffStrategy) as of October 2024.
// The declared outcomes are our own addition; the platform has none.
//
// Left out: loading and merging of configuration files, function time-outs,
// recovery of panics, logging, circuit breakers. Package host does those around
// an attempt or around the loop.
package retrycontext

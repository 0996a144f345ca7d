package triggers

// Caller is what a [Sink] is too for listeners whose functions are also asked without a
// delivery: a turn of an orchestrator, a batch of an entity.
type Caller interface {
	// Call runs the function once for an event that is no delivery. The function's timeout
	// holds; its retry policy and its circuit breaker do not. The journal has what the
	// handler writes and nothing else, so Settled is not called. It blocks for as long as
	// the handler runs. It may be called concurrently.
	//
	// Result.Cancelled says that the host has ended the call, which then has come to nothing.
	Call(ev *Event) Result
}

// A Timeout is what the error of an attempt is that the function's timeout has ended.
// Package net knows such errors by the same method.
type Timeout interface {
	error
	Timeout() bool
}

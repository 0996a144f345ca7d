// Package triggers defines the one message abstraction of the host: what a
// trigger source hands over ([Event]), what comes back ([Result]), and the two
// sides of that hand-over ([Listener], [Sink]).
//
// A listener receives, calls Sink.Handle, and acts on the Result by its own
// rule; then it reports exactly one Settlement. Only a listener's package
// knows how its kind settles. The kinds live in the packages below this
// one. Retry inside a delivery happens behind Sink.Handle, redelivery
// belongs to the service: a listener implements neither.
package triggers

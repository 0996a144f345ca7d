// Package kinds is the contract between the host and the kinds of triggers and bindings.
//
// A [Kind] is all that the host knows of a trigger kind: its facts for check, how
// to connect and to listen, what a call by hand means, its web hook. An [Output]
// and an [Input] are bindings. Each kind has a package below this one, which takes
// what it needs from an [Env]; package table lists them. The host itself names no
// kind.
package kinds

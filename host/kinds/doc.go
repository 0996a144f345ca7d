// Package kinds is the contract between the host and the kinds of triggers and bindings.
//
// A [Kind] is all that the host knows of a trigger kind: its facts and lints for
// check, how to connect and to listen, what a call by hand means, its web hook, and
// what the command line shows of it. An [Output] and an [Input] are bindings. Each
// kind has a package below this one, which takes what it needs from an [Env];
// package served lists them. Elsewhere nothing compares kinds by their names.
package kinds

// Package kit serves hosts to test runs in any language: one process for a run, a fresh host
// for each test, which begins at the same virtual instant with the same seed, and whose time
// moves only when the test moves it. Command "redeliver kit" is its program, docs/kit.md tells
// its users of it, and docs/kit-protocol.md is the protocol, hole by hole decided.
//
// Read [New] and [Kit] first. An operation is a struct that says how it travels, as those of
// package ops, with a method that does it on a [Host] (verbs.go lists them). What a host does
// is a session of package scenario: the steps of a scenario, one at a time, from outside. The
// control API of a host is that of package web, below /kit/hosts/{id}/admin/redeliver, and its
// HTTP functions are below /kit/hosts/{id}/http.
//
// Left out: TLS, and callers of other machines. Whoever has the token may do everything.
package kit

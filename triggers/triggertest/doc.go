// Package triggertest holds the duties of every listener of any kind: one suite,
// [RunListener], and a [Sink] for tests of the peculiarities of a kind.
//
// The package imports testing and belongs in tests only.
package triggertest

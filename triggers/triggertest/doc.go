// Package triggertest holds what every listener has to do, whatever its kind:
// one suite, [RunListener], and a [Sink] for tests of what is peculiar to a
// kind.
//
// The package imports testing and belongs in tests only.
package triggertest

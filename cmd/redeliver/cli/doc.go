// Package cli is what all commands share towards a person: the streams of the process, what is
// written to them and how (console.go), errors with hints and exit codes, arguments and flags,
// spans of time, layout, words, and the version of the program. Read [Console] first. It knows
// no command and no host.
package cli

// Package verbs has the commands for a running host. A [Verb] is the command for one
// operation: it says the words of the command and the form of the answer, and the operation's
// tags say the rest, which fill.go makes of them: flags with their limits, arguments, and the
// call. A file has the verbs of one service; all.go lists them, and makes commands of
// operations that have no words here, so that a service is a row of a table for the command as
// well. ls, logs and ui are written by hand, each for a reason that its comment begins with.
package verbs

package worker

import (
	"slices"
	"strings"
	"time"
)

// debuggers are the beginnings of arguments that open a process for a debugger: of
// Node.js, Python and Java.
var debuggers = []string{"--inspect", "debugpy", "-agentlib:jdwp", "-Xrunjdwp"} // read only

// Debugs reports whether arguments open a worker for a debugger.
func Debugs(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		return slices.ContainsFunc(debuggers, func(one string) bool { return strings.HasPrefix(argument, one) })
	})
}

// debugLimit is what the limits of a start become for a worker that a debugger may hold
// (spec workers-dotnet-java 1.5).
const debugLimit = 24 * time.Hour

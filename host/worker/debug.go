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

// DebuggerWait has a .NET process wait for a debugger before it runs (spec
// workers-dotnet-java 1.5).
const DebuggerWait = "FUNCTIONS_ENABLE_DEBUGGER_WAIT"

// Waits reports whether the environment of a worker has it wait for a debugger. The last
// of several values counts.
func Waits(env []string) (yes bool) {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); strings.EqualFold(name, DebuggerWait) {
			yes = strings.EqualFold(value, "true")
		}
	}
	return yes
}

// debugLimit is what the limits of a start become for a worker that a debugger may hold
// (spec workers-dotnet-java 1.5).
const debugLimit = 24 * time.Hour

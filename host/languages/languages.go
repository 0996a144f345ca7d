// Package languages has a row for each language that functions are written in beside Go for
// this host: what is true of all of them, and only differs. Read [Language]. What one
// language alone has stands where it is used: finding its worker in package launch, its
// worker in package shim, the marks of its apps in package app.
package languages

import (
	"slices"
	"strings"
)

// The runtimes that are compared by name.
const (
	Dotnet     = "dotnet-isolated"
	InProcess  = "dotnet" // the model of .NET that the platform has ended
	PowerShell = "powershell"
	Java       = "java"
	Node       = "node"
	Python     = "python"
)

// A Language is the row of one worker runtime of the platform.
type Language struct {
	Runtime string   // FUNCTIONS_WORKER_RUNTIME
	Words   string   // for people: "Python"
	Scripts []Script // whose names say that a function is in it

	// Watched are the ends of the names of files that belong to functions (spec
	// host-and-retry 7.1).
	Watched []string

	// Interpreters are the programs that run a worker, in the order in which they are
	// tried (spec workers 15). Install says how to get one.
	Interpreters []string
	Install      string

	Served    bool // with nothing but the interpreter, or the build, of the machine
	Arguments bool // its worker takes arguments of the user
	OwnWorker bool // the program of the app is the worker
}

// A Script is how the names of some scripts end, and what they are written in.
type Script struct{ End, Words string }

const (
	javaScript = "JavaScript"
	goWords    = "Go, for the official Go worker"
)

var table = []Language{ // read only
	{
		Runtime: Node, Words: "JavaScript or TypeScript", Served: true, Arguments: true, Watched: []string{".js", ".mjs", ".cjs"},
		Scripts:      []Script{{".js", javaScript}, {".mjs", javaScript}, {".cjs", javaScript}, {".ts", "TypeScript"}},
		Interpreters: []string{"node"}, Install: "install Node.js 18 or later (https://nodejs.org)",
	},
	{
		Runtime: Python, Words: "Python", Served: true, Arguments: true, Watched: []string{".py"}, Scripts: []Script{{".py", "Python"}},
		Interpreters: []string{"python3", "python"}, Install: "install Python 3.9 or later (https://www.python.org), or activate the app's virtual environment",
	},
	{
		Runtime: Java, Words: "Java", Served: true, Arguments: true, Watched: []string{".jar", ".class"}, Scripts: []Script{{".jar", "Java"}, {".java", "Java"}},
		Interpreters: []string{"java"}, Install: "install a JDK 11 or later (https://adoptium.net), or set JAVA_HOME to its folder",
	},
	{
		Runtime: PowerShell, Words: "PowerShell", Arguments: true, Watched: []string{".ps1", ".psm1"},
		Scripts:      []Script{{".ps1", "PowerShell"}, {".psm1", "PowerShell"}},
		Interpreters: []string{"dotnet"}, Install: "install the .NET runtime on which the worker runs, .NET 8 for PowerShell 7.4 (https://dotnet.microsoft.com/download), or set DOTNET_ROOT to its folder",
	},
	{
		Runtime: Dotnet, Words: ".NET (isolated)", Served: true, Watched: []string{".dll", ".metadata"},
		Interpreters: []string{"dotnet"}, Install: "install the .NET SDK 8 or later (https://dotnet.microsoft.com/download), or set DOTNET_ROOT to its folder",
	},
	{Runtime: InProcess, Words: ".NET (in-process)", Scripts: []Script{{".dll", ".NET"}, {".csx", "C# script"}, {".fsx", "F# script"}}},
	{Runtime: "native", Words: goWords, OwnWorker: true},
	{Runtime: "golang", Words: goWords, OwnWorker: true},
}

// Of is the row of a runtime in small letters; a zero one when there is no such runtime.
func Of(runtime string) Language {
	for _, l := range table {
		if l.Runtime == runtime {
			return l
		}
	}
	return Language{}
}

// OfScript is the row of a script by the end of its name, and what it is written in.
func OfScript(name string) (l Language, words string) {
	name = strings.ToLower(name)
	for _, l := range table {
		if i := slices.IndexFunc(l.Scripts, func(s Script) bool { return strings.HasSuffix(name, s.End) }); i >= 0 {
			return l, l.Scripts[i].Words
		}
	}
	return Language{}, ""
}

// WithArguments are the runtimes whose workers take arguments of the user.
func WithArguments() (runtimes []string) {
	for _, l := range table {
		if l.Arguments {
			runtimes = append(runtimes, l.Runtime)
		}
	}
	return runtimes
}

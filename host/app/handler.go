package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/schemas"
)

// HandlerKind says what runs the functions of an app.
type HandlerKind string

// The kinds of handlers.
const (
	// NoHandler: nothing in the folder runs functions; they may still be
	// registered in process.
	NoHandler HandlerKind = "none"
	// GoSource: a Go program to build.
	GoSource HandlerKind = "goSource"
	// Executable: a prebuilt plugin.
	Executable HandlerKind = "executable"
	// Custom: an HTTP custom handler.
	Custom HandlerKind = "custom"
	// Language: a language worker (Node, Python, ...), see HandlerSpec.Worker.
	Language HandlerKind = "language"
)

// HandlerSpec is the result of discovering the handler of an app.
//
// The first of these rules that fits decides: FUNCTIONS_WORKER_RUNTIME "custom" is
// an HTTP custom handler; customHandler.description.defaultExecutablePath names a
// prebuilt plugin, if the program is built with the functions package or the
// runtime is "go", and else an HTTP custom handler; a main package in the app's
// folder that imports the functions package, or any with the runtime "go", is Go
// source to build, unless the runtime is of another language; any other runtime,
// and files that say so, is a language worker.
//
// A Language without a worker is not served. The app starts all the same; its functions
// say so in [Function.NotServed].
type HandlerSpec struct {
	Kind HandlerKind

	// Path is the absolute path of the main package (GoSource) or of the
	// executable; a bare name is looked up in PATH at the start.
	Path string

	// Runtime is FUNCTIONS_WORKER_RUNTIME in lower case. When that is unset, the
	// files of the app decide it, or it is "".
	Runtime string

	// Assumed is the file that alone says that an app is one of isolated .NET, "" when
	// the setting does.
	Assumed string

	// Worker is set when a worker runs the functions of a Language.
	Worker bool

	// Extensions are the ends of the names of files that belong to a Language's
	// functions, ".py".
	Extensions []string

	// Folders are further folders, absolute, in which files with these ends belong to
	// the functions. Leaves, when not nil, reports the names of folders, at any depth,
	// that hold nothing of them: what a build writes is no change of the app.
	Folders []string
	Leaves  func(name string) bool

	// Reads, when not nil, decides in the place of Extensions whether a change of a path,
	// wherever it is, may change the functions.
	Reads func(path string, isDir bool) bool

	// Root is the folder of the functions, absolute, when a build has written them into
	// one of their own; "" is the app's. The app's host.json and settings count all the same.
	Root string

	// Arguments and WorkingDirectory (absolute) are for an Executable, and for Custom.
	Arguments        []string
	WorkingDirectory string

	// Files are the files of the app, by their absolute paths, that a Custom consists
	// of as far as its command line says: the program, and what its arguments name.
	Files []string

	// Fingerprint stands for the content of the handler: what Options.Sources says
	// of its Go program, the sources of a .NET project, or the executable; of any other
	// Language the app's own fingerprint holds the files. While it stays equal nothing has to be built or restarted.
	Fingerprint string

	// Fault is set when the app cannot start because of its handler.
	Fault *schemas.Fault
}

// Unwatched reports whether folders of that name hold nothing of the app, at any depth.
func (h *HandlerSpec) Unwatched(name string) bool {
	return Unwatched(name) || h.Leaves != nil && h.Leaves(name)
}

// Served reports whether there is a program that runs functions. Handlers that
// are registered in process do not count.
func (h *HandlerSpec) Served() bool {
	return h.Kind == GoSource || h.Kind == Executable || h.Kind == Custom || h.Kind == Language && h.Worker
}

// Started is a handler that was started, for Options.Handler; nil when there is no program.
func (h HandlerSpec) Started() *HandlerSpec {
	if !h.Served() {
		return nil
	}
	return &h
}

// NeedsScript reports whether a function of such an app needs a script file in
// its folder (spec host-and-retry 5.2).
func (h *HandlerSpec) NeedsScript() bool {
	return h.Kind == NoHandler || h.Kind == Language
}

const (
	runtimeSetting   = "FUNCTIONS_WORKER_RUNTIME"
	functionsPackage = "github.com/redeliver/redeliver/functions"
)

// handlerFinder finds out what runs the functions of an app, and says of those that nothing
// runs why not.
type handlerFinder struct {
	*reading
	language *language // other than Go for this host; nil: none is known
	noWorker NoWorker  // of that language
}

func (l *handlerFinder) discoverHandler() HandlerSpec {
	if l.opts.Handler != nil {
		l.assumed(l.opts.Handler)
		return *l.opts.Handler
	}
	runtimeName, _ := l.app.Settings.Entry(runtimeSetting)
	h := HandlerSpec{Kind: NoHandler, Runtime: strings.ToLower(strings.TrimSpace(runtimeName.Value))}
	if l.opts.InProcess {
		return h
	}
	custom := l.app.Config.CustomHandler
	switch {
	case h.Runtime == "custom":
		if custom != nil && custom.DefaultExecutablePath != "" {
			l.customHandler(&h, custom)
		} else {
			h.Kind, h.Fault = Custom, runtimeFault(runtimeName, "the app's functions are to run in an HTTP custom handler, and host.json names no program")
			h.Fault.Allowed = ""
			h.Fault.Hint = "set customHandler.description.defaultExecutablePath in host.json"
		}
		if isMain, ours := l.mainPackage(); h.Fault != nil && isMain && ours {
			h.Fault.Hint = "the program in the folder is written with package functions: set " + runtimeSetting + " to go, or remove it"
		}
	case custom != nil && custom.DefaultExecutablePath != "":
		l.prebuilt(&h, custom)
	case h.Runtime == "go" || h.Runtime == "" || officialGo(h.Runtime):
		l.goSource(&h)
	case languages.Of(h.Runtime).Words == "":
		h.Fault = runtimeFault(runtimeName, "there is no such worker runtime")
		h.Fault.Hint = "remove the setting, or set it to go"
	}
	if h.Kind == NoHandler && h.Fault == nil {
		l.otherLanguage(&h)
		l.assumed(&h)
	}
	return h
}

// goProgram is the program of an app with the platform's own worker for Go, which is its
// own worker (spec workers 3.1).
func (l *handlerFinder) goProgram(h *HandlerSpec) string {
	named := cmp.Or(l.app.Settings.Get("languageWorkers:"+h.Runtime+":defaultExecutablePath"), "bin/app")
	return absolute(l.app.Dir, filepath.FromSlash(named))
}

// officialGo reports whether a runtime is the platform's own Go worker.
func officialGo(runtime string) bool { return languages.Of(runtime).OwnWorker }

// otherLanguage describes an app that is not written for this host, if its runtime or
// its files say what it is written for. The runtime goes first.
func (l *handlerFinder) otherLanguage(h *HandlerSpec) {
	found := languageOf(l.app.Dir, l.app.Settings)
	switch {
	case h.Runtime == "" && found == nil:
		return
	case h.Runtime == "":
		h.Runtime = found.runtime
		if h.Runtime == isolated && found.obstacle == nil {
			h.Assumed = found.sign
		}
	case found != nil && isDotnet(h.Runtime) && isDotnet(found.runtime):
		if h.Runtime != found.runtime {
			l.otherModel(h, found)
		}
	case found == nil || found.runtime != h.Runtime:
		found = &language{runtime: h.Runtime, words: languages.Of(h.Runtime).Words, inCode: officialGo(h.Runtime)}
	}
	if officialGo(h.Runtime) {
		// The program is all that there is of the app, and a build writes it anew.
		l.fileOfHandler(h, l.goProgram(h))
	}
	l.inLanguage(h, found)
}

// inLanguage takes note that functions are written in another language, and whether a
// worker runs them.
func (l *handlerFinder) inLanguage(h *HandlerSpec, found *language) {
	h.Kind, l.language, h.Extensions = Language, found, languages.Of(h.Runtime).Watched
	if found.obstacle != nil {
		l.noWorker = NoWorker{Reason: found.obstacle.Reason}
		return
	}
	if found.project != "" {
		sources := dotnet.Read(found.project, DotnetFolder(l.app.Dir))
		h.Extensions, h.Leaves = dotnet.Extensions(), dotnet.Leaves
		h.Folders, h.Reads, h.Fingerprint = sources.Folders, sources.Reads, sources.Fingerprint
	}
	if h.Root = found.root; found.runtime == "java" && found.sign != "" {
		h.Leaves = javaLeaves
		if found.root == "" {
			h.Fault = unbuiltJava(found)
		}
	}
	if l.opts.Worker == nil {
		h.Worker = languages.Of(h.Runtime).Served
		switch {
		case h.Worker:
		case officialGo(h.Runtime):
			if h.Worker = isFile(l.goProgram(h)); !h.Worker {
				l.noWorker = NoWorker{"the app has not been built", "run \"go build -o bin/app .\""}
			}
		default:
			l.noWorker = NoWorker{onlySome, "set languageWorkers:" + h.Runtime + ":workerDirectory to the folder of the official worker"}
		}
		return
	}
	l.noWorker = l.opts.Worker(h.Runtime, l.app.Settings)
	h.Worker = l.noWorker.Reason == ""
}

func runtimeFault(s appsettings.Setting, reason string) *schemas.Fault {
	f := &schemas.Fault{File: document.EnvironmentFile, Path: runtimeSetting, Found: schemas.Quote(s.Value), Allowed: "go, or unset", Reason: reason}
	switch {
	case s.Secret:
		f.File = s.File()
	case s.Local:
		f.File, f.Line, f.Column = s.File(), s.Line, s.Column
		f.Path = "Values." + runtimeSetting
	}
	return f
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// goSource looks for a main package in the app's folder.
func (l *handlerFinder) goSource(h *HandlerSpec) {
	isMain, imports := l.mainPackage()
	if h.Runtime != "go" && !(isMain && imports) {
		return
	}
	h.Kind, h.Path = GoSource, l.app.Dir
	if !isMain {
		h.Fault = &schemas.Fault{
			File: "main.go", Reason: "FUNCTIONS_WORKER_RUNTIME is go, but the app's folder holds no main package",
			Hint: "redeliver init writes one; for a prebuilt handler set customHandler.description.defaultExecutablePath in host.json",
		}
		return
	}
	if l.opts.Sources != nil {
		h.Fingerprint = l.opts.Sources(l.app.Dir)
	}
}

// globEscape escapes what filepath.Glob would interpret in a folder's name.
func globEscape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir // there is no escape, and none of the characters is allowed but [
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func fileDigest(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// Language is the name of the language that the app's handler is written in, as far as the
// host knows: "go", that of its runtime, or "custom" for handlers that speak HTTP, of which
// the platform knows none.
func (a *App) Language() string {
	switch a.Handler.Kind {
	case GoSource:
		return "go"
	case Language:
		return a.Handler.Runtime
	}
	return string(Custom)
}

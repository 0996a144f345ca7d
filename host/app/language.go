package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/schemas"
)

// A language is the language of an app that is not in Go for this host.
type language struct {
	runtime string // FUNCTIONS_WORKER_RUNTIME of such an app
	words   string // "Python", "C# or F# (.NET isolated)"
	sign    string // the file that says so; empty: only the setting does
	inCode  bool   // functions are declared in code, and no function.json lists them
	unbuilt string // the output of its build, when that is missing
	project string // the absolute path of the project that is to be built; .NET only
	root    string // the absolute path of the folder that its build writes the functions into; Java only

	obstacle *schemas.Fault // why nothing can run the functions, whatever is installed
}

const (
	onlySome = "this version brings workers for JavaScript, TypeScript, Python and Java only"
	services = `storage, Service Bus, Event Grid and Event Hubs are served all the same; "redeliver start --services-only" starts nothing else`
)

// languageOf recognises an app in another language by its files, as the platform's
// tool does (spec workers-dotnet-java 1.1, 2.1, 3; spec workers 4). It looks at the app's
// folder only; nil when nothing says what the app is written in.
func languageOf(dir string, settings *appsettings.Settings) *language {
	for _, look := range []func(string, *appsettings.Settings) *language{pythonApp, dotnetApp, javaApp, nodeApp, powershellApp} {
		if found := look(dir, settings); found != nil {
			return found
		}
	}
	return nil
}

func isFile(elements ...string) bool {
	info, err := os.Stat(filepath.Join(elements...))
	return err == nil && !info.IsDir()
}

// mostRead is how much of a project file is looked at: what matters stands at its
// beginning.
const mostRead = 1 << 20

// contains reports whether a file holds one of the texts, ignoring case.
func contains(path string, texts ...string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	lower := strings.ToLower(string(content[:min(len(content), mostRead)]))
	for _, text := range texts {
		if strings.Contains(lower, strings.ToLower(text)) {
			return true
		}
	}
	return false
}

func pythonApp(dir string, settings *appsettings.Settings) *language {
	main := settings.Get("PYTHON_SCRIPT_FILE_NAME")
	if main == "" {
		main = "function_app.py"
	}
	switch {
	case isFile(dir, main):
		return &language{runtime: "python", words: "Python", sign: main, inCode: true}
	case contains(filepath.Join(dir, "requirements.txt"), "azure-functions"):
		return &language{runtime: "python", words: "Python", sign: "requirements.txt"}
	}
	return nil
}

func nodeApp(dir string, _ *appsettings.Settings) *language {
	const file = "package.json"
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil
	}
	var pkg struct {
		Main            string            `json:"main"`
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	// A package.json that cannot be read says nothing.
	_ = json.Unmarshal(text, &pkg)
	library, isDependency := pkg.Dependencies["@azure/functions"]
	_, isTool := pkg.DevDependencies["@azure/functions"]
	if !isDependency && !isTool {
		return nil
	}
	found := &language{runtime: "node", words: "JavaScript", sign: file}
	// Since version 4 of the library functions are declared in what "main" names.
	found.inCode = isDependency && pkg.Main != "" && !strings.HasPrefix(strings.TrimLeft(library, "^~>=v "), "3")
	if _, ok := pkg.DevDependencies["typescript"]; ok || isFile(dir, "tsconfig.json") {
		found.words = "TypeScript"
		if !builtAt(dir, pkg.Main) {
			found.unbuilt = pkg.Main
		}
	}
	return found
}

// builtAt reports whether there is something at what "main" names, which may be a
// pattern: then the folder in front of it counts. Without a name nothing is missing.
func builtAt(dir, main string) bool {
	if i := strings.IndexAny(main, "*?[{"); i >= 0 {
		main = main[:strings.LastIndex(main[:i], "/")+1]
	}
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(main)))
	return err == nil
}

func powershellApp(dir string, _ *appsettings.Settings) *language {
	for _, sign := range []string{"profile.ps1", "requirements.psd1"} {
		if isFile(dir, sign) {
			return &language{runtime: "powershell", words: "PowerShell", sign: sign}
		}
	}
	return nil
}

// nothingServes reports whether this host has no handler for the app, so that no
// function runs.
func (l *indexer) nothingServes() bool {
	return !l.opts.InProcess && l.app.Handler.Fault == nil && !l.app.Handler.Served()
}

// notServed says of functions that nothing here runs why they do not: that
// is no fault of the app's. A function of which nothing says what could run it is in
// error.
func (l *handlerFinder) notServed(functions []*Function) {
	h := &l.app.Handler
	if l.opts.InProcess || h.Fault != nil {
		return
	}
	l.languageOfScripts(functions)
	if h.Served() && h.Kind != Language {
		return
	}
	for _, f := range functions {
		script, words := languages.OfScript(f.ScriptFile)
		switch known := words != ""; {
		case known && script.Runtime == inProcess && h.Runtime == inProcess:
			f.NotServed = filepath.Base(f.ScriptFile) + " runs in the in-process model of .NET, whose support has ended"
		case known && script.Runtime != h.Runtime && h.Worker:
			f.NotServed = fmt.Sprintf("%s is %s, and the worker of this app is for %s", filepath.Base(f.ScriptFile), words, languages.Of(h.Runtime).Words)
		case h.Worker:
		case known:
			f.NotServed = fmt.Sprintf("%s is %s, and %s", filepath.Base(f.ScriptFile), words, l.noWorker.Reason)
		case h.Kind == Language:
			f.NotServed = fmt.Sprintf("it is written in %s, and %s", l.language.words, l.noWorker.Reason)
		case !f.hasFault(scriptFile):
			fault := f.fault(scriptFile, f.at("scriptFile"), schemas.KindConfiguration, "", "a script in a language of the platform, or a Go program in the app's folder",
				"nothing in the app's folder runs the function")
			fault.Hint = l.nothingRuns()
		}
	}
	if l.language != nil {
		l.explainLanguage(functions)
	}
	if h.Worker && h.Fingerprint == "" {
		l.hashFiles(l.functionsFolder(), func(name string) bool { return slices.Contains(h.Extensions, strings.ToLower(filepath.Ext(name))) })
	}
}

// languageOfScripts finds the language of an app of which nothing but its scripts says
// it.
func (l *handlerFinder) languageOfScripts(functions []*Function) {
	h := &l.app.Handler
	for _, f := range functions {
		if script, words := languages.OfScript(f.ScriptFile); words != "" && h.Kind == NoHandler {
			h.Runtime = script.Runtime
			l.inLanguage(h, &language{runtime: script.Runtime, words: words})
		}
	}
}

// nothingRuns is the hint for a function that nothing runs.
func (l *handlerFinder) nothingRuns() string {
	if isMain, _ := l.mainPackage(); isMain {
		return "the Go program in the app's folder does not import package " + functionsPackage + ", as a handler does; redeliver init writes one"
	}
	return "nothing in the app's folder runs its functions: add a Go program (redeliver init), or set scriptFile"
}

// explainLanguage says once for the app what its functions say one by one.
func (l *handlerFinder) explainLanguage(functions []*Function) {
	lang, named := l.language, l.app.Settings.Named(runtimeSetting)
	w := &schemas.Fault{File: lang.sign}
	if lang.sign == "" && named.Name != "" {
		w = runtimeFault(named, "")
		w.Allowed = ""
	} else if lang.sign == "" {
		w.File = document.HostFile
	}
	w.Reason = fmt.Sprintf("the functions of this app are written in %s, and %s", lang.words, l.noWorker.Reason)
	if lang.inCode {
		w.Reason = fmt.Sprintf("the functions of this app are declared in code, in %s, and %s: they are not listed here", lang.words, l.noWorker.Reason)
	}
	if lang.runtime == inProcess {
		l.oldModel(w, lang, functions)
		lang.obstacle = w
	}
	if lang.obstacle != nil {
		l.explain(lang.obstacle)
		l.app.Obstacle = lang.obstacle
		return
	}
	if l.app.Handler.Worker {
		if lang.unbuilt != "" {
			w.Reason, w.Hint = fmt.Sprintf("the app has not been built: \"main\" names %q, and the file is missing", lang.unbuilt), "npm install, npm run build"
			l.warn(w)
		}
		return
	}
	w.Hint = services
	if l.noWorker.Hint != "" {
		w.Hint = l.noWorker.Hint + "; " + w.Hint
	}
	l.warn(w)
}

package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/schemas"
)

// The runtimes of .NET: functions in a process of their own, and functions that run
// inside the platform's host.
const (
	isolated  = languages.Dotnet
	inProcess = languages.InProcess
)

func isDotnet(runtime string) bool { return runtime == isolated || runtime == inProcess }

// outputFile and outputFolder mark the output of a build of an isolated app.
const (
	outputFile   = "worker.config.json"
	outputFolder = ".azurefunctions"
)

// dotnetApp recognises a project of .NET, or the output of its build (spec
// workers-dotnet-java 1.1). More than one project file in the folder is as bad as none:
// the platform's tool does not choose either.
func dotnetApp(dir string, settings *appsettings.Settings) *language {
	projects := dotnet.Find(dir)
	for _, p := range projects {
		if p.Model == dotnet.Other {
			continue
		}
		found := &language{runtime: isolated, sign: p.Name(), inCode: true, project: p.Path}
		if p.Model == dotnet.InProcess {
			found.runtime, found.project = inProcess, ""
		}
		found.words = languages.Of(found.runtime).Words
		switch {
		case len(projects) > 1:
			found.obstacle = &schemas.Fault{
				File: p.Name(), Reason: "the folder holds several project files, and the app has to be one: " + namesOf(projects),
				Hint: "keep one project in each folder; " + services,
			}
		case p.Model == dotnet.Test:
			found.obstacle = &schemas.Fault{
				File: p.Name(), Reason: fmt.Sprintf("the project holds tests (%s), and no functions", p.Sign),
				Hint: "name the folder of the project with the functions; " + services,
			}
		}
		return found
	}
	_, named := settings.Lookup(runtimeSetting)
	if info, err := os.Stat(filepath.Join(dir, outputFolder)); isFile(dir, outputFile) && (err == nil && info.IsDir() || named && strings.EqualFold(settings.Get(runtimeSetting), isolated)) {
		return &language{runtime: isolated, words: languages.Of(isolated).Words, sign: outputFile, inCode: true}
	}
	return nil
}

func namesOf(projects []dotnet.Project) string {
	names := make([]string, len(projects))
	for i, p := range projects {
		names[i] = p.Name()
	}
	return strings.Join(names, ", ")
}

// otherModel is an app whose runtime setting and whose files disagree about the model of
// .NET.
func (l *handlerFinder) otherModel(h *HandlerSpec, found *language) {
	if found.runtime == inProcess {
		h.Runtime = inProcess // the project decides, and it is refused
		return
	}
	s, _ := l.app.Settings.Entry(runtimeSetting)
	f := runtimeFault(s, fmt.Sprintf("the setting is for the in-process model of .NET, and %s for the isolated one", found.sign))
	f.Allowed, f.Hint = isolated, "set it to "+isolated
	found.obstacle = f
}

// oldModel says why functions of the in-process model do not run, and what has shown
// that they are (spec workers-dotnet-java 1.15).
func (l *handlerFinder) oldModel(w *schemas.Fault, lang *language, functions []*Function) {
	sign := runtimeSetting + " is " + inProcess
	for _, f := range functions {
		if script, _ := languages.OfScript(f.ScriptFile); script.Runtime == inProcess {
			sign, w.File = f.ScriptFile, f.ScriptFile
			w.Path, w.Found, w.Line, w.Column = "", "", 0, 0
			break
		}
	}
	if lang.sign != "" {
		sign, w.File = lang.sign+" has package Microsoft.NET.Sdk.Functions", lang.sign
	}
	w.Reason = "the functions of this app are written for the in-process model of .NET (" + sign + "), whose support ended on 10 November 2026: no version of this host runs them"
	w.Hint = "move them to the isolated model (package Microsoft.Azure.Functions.Worker), scripts to a project of their own; " + services
}

// assumed tells that the files alone say what the app is: without the setting the
// platform takes its assembly for one of the in-process model (spec workers-dotnet-java
// 1.1).
func (l *handlerFinder) assumed(h *HandlerSpec) {
	if h.Assumed == "" {
		return
	}
	l.warn(&schemas.Fault{
		File: h.Assumed, Reason: runtimeSetting + " is not set; the app counts as " + isolated + " here, and the platform takes it for one of the in-process model",
		Hint: "set " + runtimeSetting + " to " + isolated + " under Values in " + document.LocalFile,
	})
}

// withoutBundle reports whether the app is one of .NET, for which the platform reads no
// extension bundle (spec workers-dotnet-java 1.1).
func (l *hostFile) withoutBundle() bool {
	runtime := strings.ToLower(l.app.Settings.Get(runtimeSetting))
	return isDotnet(runtime) || runtime == "" && !l.opts.InProcess && dotnetApp(l.app.Dir, l.app.Settings) != nil
}

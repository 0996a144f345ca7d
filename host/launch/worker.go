package launch

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// Notices are what was said of the workers of a host, by themselves or of their environment:
// a worker that is started again has the same said again, and a person wants it once.
type Notices struct {
	mu   sync.Mutex // guards:
	said map[string]bool
}

func (n *Notices) first(text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		n.said = map[string]bool{}
	}
	before := n.said[text]
	n.said[text] = true
	return !before
}

// WorkerSpec is what the worker that was found for an app has to know, and how it is
// started. ps is how it is kept running. pool may be nil.
func WorkerSpec(a *app.App, found *Found, ps process.Spec, hostVersion string, told *Notices, pool *worker.Pool) worker.Spec {
	ps.Name, ps.Path, ps.Args, ps.Dir = found.Language+" worker", found.Path, found.Args, found.App
	ps.Env = append(ps.Env, found.Environment(func(name string) bool { _, ok := a.Settings.Lookup(name); return ok })...)
	found.Processes.Set(&ps)
	output := ps.Output
	ps.Output = func(l process.Line) {
		if l, drop := worker.ConsoleLine(l); !drop {
			output(l)
		}
	}
	return worker.Spec{
		Spec: ps, Transport: found.Transport, Language: found.Language, Directory: found.Directory, App: found.App,
		Indexing: found.Indexing, Metadata: found.Metadata, HostVersion: hostVersion, ManagedDependencies: a.Config.ManagedDependencies, InitTimeout: found.Processes.InitTimeout,
		Pool: pool, Content: contentOf(a),
		Log: func(l call.Log) { output(process.Line{Level: l.Level, Text: l.Message}) },
		Notice: func(l call.Log) {
			if told.first(l.Message) {
				output(process.Line{Level: l.Level, Text: l.Message})
			}
		},
	}
}

// contentOf stands for what the worker of an app reads and loads: its sources, where the
// host knows them, and its functions.
func contentOf(a *app.App) string {
	text, err := json.Marshal([]any{a.Handler.Fingerprint, a.Config.Functions, WorkerFunctions(a.Dir, a.Functions)})
	if err != nil {
		return a.Fingerprint // another one for each app
	}
	return string(text)
}

// LoadFailure is why a function could not be loaded, for a person.
func LoadFailure(e *call.Error) string {
	text := "the worker cannot load the function: " + e.Message
	if stack := strings.TrimSpace(e.Stack); stack != "" && !strings.Contains(e.Message, stack) {
		text += "\n\t" + strings.ReplaceAll(stack, "\n", "\n\t")
	}
	return text
}

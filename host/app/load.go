package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/schemas"
)

// Load reads the app in dir. It returns an error only when dir cannot be read at
// all; all other faults are in the App: its own, its functions' and the Handler's.
func Load(dir string, opts *Options) (*App, error) {
	if opts == nil {
		opts = &Options{}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("app folder %q: %w", dir, err)
	}
	if _, err := os.ReadDir(abs); err != nil {
		return nil, fmt.Errorf("app folder %q: %w", dir, err)
	}
	shared := &reading{opts: opts, app: &App{Dir: abs}, digest: sha256.New()}
	l := &loader{shared, hostFile{reading: shared}, handlerFinder{reading: shared}, indexer{reading: shared}}
	l.loadSettings()
	doc := l.host.loadHostFile()
	l.host.applyProfile(doc)
	l.app.hostDoc = doc
	r := document.Reader{Doc: doc, Spans: &l.app.spans}
	l.app.Switches = hostjson.ReadSwitches(r)
	l.host.readConfig(r)
	if !l.host.unreadable {
		l.host.schemaFaults(doc)
		for _, warning := range doc.Misshapen(schemas.HostJSON) {
			l.warn(warning)
		}
		l.app.nearMisses = doc.Misspelt(schemas.HostJSON)
		l.host.renamedKeys(r)
	}
	l.host.loadServiceBusEntities(r)
	l.host.loadHubs(r)
	l.proxies()
	l.app.ID = l.hostID()
	if opts.ServicesOnly {
		l.app.MissingHostJSON, l.app.Handler.Kind = false, NoHandler
	} else {
		l.app.Handler = l.handler.discoverHandler()
		l.loadFunctions()
		if err := l.elsewhere(); err != nil {
			return nil, err
		}
		l.nothingDeclared()
		l.unusedInputs()
		l.checkStorage()
		l.checkHub()
		l.noteDurable()
		l.findBuilt()
	}
	l.hashWatched()
	l.finish()
	return l.app, nil
}

// loadSettings fills App.Settings and App.Local.
func (l *loader) loadSettings() {
	settings, faults, warnings := appsettings.Read(l.app.Dir, l.opts.Env, l.opts.Settings)
	l.app.Settings, l.app.Local = settings, settings.Host
	for _, f := range faults {
		l.fault(f)
	}
	for _, w := range warnings {
		l.warn(w)
	}
}

// reading is one Load, as far as everybody who takes part in it shares it: the app as it is
// known so far, what is wrong with it, and the fingerprint of what was read.
type reading struct {
	opts   *Options
	app    *App
	digest hash.Hash
	staged []stagedFault
}

// loader reads the functions of an app and what concerns the app as a whole. The parts with
// rules of their own are types: host.json, who runs the functions, and what their bindings
// mean.
type loader struct {
	*reading
	host    hostFile
	handler handlerFinder
	indexer indexer
}

// A stage is a step of the platform's own checking. The platform stops at its
// first fault, which is not always the first one in the file: it has the lowest
// stage, and was found first in that stage.
type stage int

// The stages of an app. The stages of a function are in function.go.
const (
	hostReading stage = iota // syntax and version of host.json
	hostPolicy               // its retry policy
	hostValues               // everything else in it
	hostNeeds                // what the app as a whole lacks
)

type stagedFault struct {
	stage stage
	fault *schemas.Fault
}

// fault records a fault of the app as a whole.
func (l *reading) fault(f *schemas.Fault) { l.faultAt(hostValues, f) }

func (l *reading) faultAt(s stage, f *schemas.Fault) {
	l.explain(f)
	l.staged = append(l.staged, stagedFault{s, f})
}

func (l *reading) warn(f *schemas.Fault) {
	f.First = false
	l.explain(f)
	l.app.Warnings = append(l.app.Warnings, f)
}

// schemaFaults adds what the schema of host.json finds and nothing else did. An
// app without host.json gets a default one, so its version is not missing.
func (l *hostFile) schemaFaults(doc *schemas.Document) {
	for _, f := range doc.Validate(schemas.HostJSON) {
		switch {
		case f.Path == "version" && l.app.MissingHostJSON, covered(l.staged, f):
		case document.HasPrefixFold(f.Path, "httpWorker") && l.app.Config.CustomHandler != nil && l.app.Config.CustomHandler.Section == "customHandler": // not read beside it
		case f.Path == "version":
			if f.Found == "" && hasVersion1(doc) {
				f.Hint += ", and move the sections of version 1 that this file has at its top"
			}
			l.faultAt(hostReading, f)
		default:
			l.fault(f)
		}
	}
}

// covered reports whether there is a fault about the same value already.
func covered(staged []stagedFault, f *schemas.Fault) bool {
	for _, s := range staged {
		if strings.EqualFold(s.fault.Path, f.Path) && (s.fault.File == f.File || f.File == document.HostFile) {
			return true
		}
	}
	return false
}

// inOrder sorts faults by their place and marks, in each file, the one that the
// platform would report. A fault that only this emulator knows is never marked.
func inOrder(staged []stagedFault) []*schemas.Fault {
	first := make(map[string]stagedFault)
	var faults []*schemas.Fault
	for _, s := range staged {
		s.fault.First = false
		faults = append(faults, s.fault)
		if s.fault.Kind == "" {
			continue
		}
		if best, ok := first[s.fault.File]; !ok || s.before(best) {
			first[s.fault.File] = s
		}
	}
	for _, s := range first {
		s.fault.First = true
	}
	schemas.Sort(faults)
	return faults
}

// before reports whether the platform meets s before other, which was found
// earlier. In the stages that walk through the file, the place decides.
func (s stagedFault) before(other stagedFault) bool {
	if s.stage != other.stage {
		return s.stage < other.stage
	}
	walks := s.stage == indexing || s.stage == hostValues || s.stage == bindingParsed
	return walks && cmp.Or(s.fault.Line-other.fault.Line, s.fault.Column-other.fault.Column) < 0
}

// proxies warns about a file that the platform no longer reads
// (spec host-and-retry 12.3).
func (l *reading) proxies() {
	const name = document.ProxiesFile
	if info, err := os.Stat(filepath.Join(l.app.Dir, name)); err == nil && !info.IsDir() {
		l.warn(&schemas.Fault{File: name, Reason: "proxies are not supported; the file is ignored", Hint: "write an HTTP-triggered function instead"})
	}
}

// checkStorage reports a missing host storage (spec host-and-retry 12.3).
func (l *loader) checkStorage() {
	if _, ok := l.app.Settings.Connection("Storage"); ok || l.app.Settings.Unreadable() {
		return
	}
	var needy []string
	for _, f := range l.app.Functions {
		if f.NotServed == "" && f.Kind != nil && f.Kind.NeedsStorage {
			needy = append(needy, fmt.Sprintf("%s (%s)", f.Name, f.Kind.Type))
		}
	}
	if len(needy) == 0 {
		return
	}
	l.faultAt(hostNeeds, &schemas.Fault{
		File: document.LocalFile, Path: "Values.AzureWebJobsStorage", Kind: schemas.KindInvalidOperation,
		Allowed: "a connection string",
		Reason:  appsettings.HostStorage + " is missing; every trigger except HTTP needs it: " + strings.Join(needy, ", "),
		Hint:    `set it in the environment or under Values in local.settings.json, for instance to "UseDevelopmentStorage=true"`,
	})
}

// forgive makes warnings of the faults that do not concern the services.
func (l *reading) forgive() {
	l.staged = slices.DeleteFunc(l.staged, func(s stagedFault) bool {
		switch s.fault.File {
		case document.HostFile, document.LocalFile, document.EnvironmentFile:
			if !document.HasPrefixFold(s.fault.Path, hostjson.SwitchSection+".") {
				l.warn(s.fault)
				return true
			}
		}
		return false
	})
}

func (l *reading) processors() int {
	if l.opts.Processors > 0 {
		return l.opts.Processors
	}
	return runtime.NumCPU()
}

// finish puts everything in order and takes the fingerprint.
func (l *loader) finish() {
	if l.opts.ServicesOnly {
		l.forgive()
	}
	l.app.Faults = inOrder(l.staged)
	schemas.Sort(l.app.Warnings)
	for _, s := range l.app.Settings.Sorted() {
		l.hash("setting "+s.Name, []byte(s.Value))
	}
	for _, list := range [][]string{l.opts.Set, l.opts.Functions} {
		l.hash("options", []byte(strings.Join(list, "\n")))
	}
	if declared, err := json.Marshal(l.opts.Declared); err == nil {
		l.hash("declared", declared)
	}
	l.hash("handler", []byte(fmt.Sprint(l.app.Handler.Kind, l.app.Handler.Path, l.app.Handler.Arguments, l.app.Handler.WorkingDirectory, l.app.Handler.Fingerprint)))
	l.app.Fingerprint = hex.EncodeToString(l.digest.Sum(nil))
}

// hash adds a named piece of content to the fingerprint.
func (l *reading) hash(name string, content []byte) {
	fmt.Fprintf(l.digest, "%s\x00%d\x00", name, len(content))
	l.digest.Write(content)
}

package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/schemas"
)

// options are what a host for the scenario is made with. A folder, if not empty, takes the
// place of the app that the scenario names.
func (s *Scenario) options(folder string, seed uint64, before *lineage, played players) (*hosttest.Options, error) {
	o := &hosttest.Options{Table: s.language.table, Seed: s.Seed, KeepBodies: true, Unjudged: true, Instances: s.scales(), Ports: s.Ports && s.of == "", InError: s.inErrorHere()}
	if err := s.start(o); err != nil {
		return nil, err
	}
	switch {
	case s.App == "":
	case s.of != "":
		o.Dir, o.App = s.App, s.of
	case folder != "":
		o.Dir = folder
	default:
		o.Dir = filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.App))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		o.Env = append(o.Env, name+"="+s.Settings[name])
	}
	files := map[string]string{}
	if err := s.hostFile(o.Dir, files); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if _, err := os.Stat(o.Dir); err != nil {
			return nil, s.fault("app", fmt.Sprintf("there is no folder %q", o.Dir), "the folder of an app, from the folder of the scenario's file")
		}
		if _, err := os.Stat(filepath.Join(o.Dir, "host.json")); err != nil && s.scripted() && len(describedIn(o.Dir)) == 0 {
			return nil, s.fault("app", fmt.Sprintf("the folder %q is no app: it has no host.json and no function.json", o.Dir), "the folder of an app, from the folder of the scenario's file")
		}
	}
	if err := s.functionFiles(o.Dir, files); err != nil {
		return nil, err
	}
	if s.scripted() {
		handlers, err := s.handlers(o.Dir, seed, before, played)
		if err != nil {
			return nil, err
		}
		if o.Unchecked = true; s.activitiesOnly(o.Dir) { // scripts keep to the clock
			o.Scripted, o.Unchecked = handlers, false
		} else {
			o.Handlers = handlers
		}
	}
	switch {
	case o.Dir == "" || s.edits():
		o.Files = files // asks for a copy of the folder
	default:
		o.Overlay = files
	}
	return o, nil
}

func (s *Scenario) fault(path, reason, allowed string) *schemas.Fault {
	return s.doc.Fault(path, "", allowed, reason)
}

// edits reports whether a step changes a file of the app.
func (s *Scenario) edits() bool {
	return slices.ContainsFunc(s.When, func(st step) bool { return st.Edit != nil || st.Remove != "" })
}

// redrives reports whether a step gives messages back.
func (s *Scenario) redrives() bool {
	return slices.ContainsFunc(s.When, func(st step) bool { return st.Deed != nil && st.Deed.Step == "redrive" })
}

// ownWorker reports whether a language worker of its own runs the scenario's app: what it
// does to the app, the host or the worker would meet what the scenarios before have left.
func (s *Scenario) ownWorker() bool {
	return s.OwnWorker || s.edits() || slices.ContainsFunc(s.When, func(st step) bool {
		return st.Restart || st.Crash != nil || st.Start || st.ScaleOut || st.ScaleIn > 0 || st.Fault != nil && st.Fault.member() == faults.Handler
	})
}

// hostFile lays the scenario's host.json over the app's.
func (s *Scenario) hostFile(dir string, files map[string]string) error {
	config := s.Entities.config()
	if len(s.Host) == 0 && config == nil {
		return nil
	}
	base := map[string]any{"version": "2.0"}
	if dir != "" {
		text, err := os.ReadFile(filepath.Join(dir, "host.json"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			doc, fault := schemas.Parse("host.json", text)
			if fault != nil {
				return fault
			}
			if own, ok := doc.Value().(map[string]any); ok {
				base = own
			}
		}
	}
	if over, ok := decoded(s.Host).(map[string]any); ok {
		base = merged(base, over)
	}
	if config != nil {
		text, err := json.Marshal(config)
		if err != nil {
			return err
		}
		files[entitiesFile] = string(text)
		base = merged(base, map[string]any{"redeliver": map[string]any{"serviceBus": map[string]any{"config": entitiesFile}}})
	}
	text, err := json.Marshal(base)
	files["host.json"] = string(text)
	return err
}

// merged lays values over others: objects are merged, everything else is replaced. Names
// ignore case, as those of host.json do.
func merged(base, over map[string]any) map[string]any {
	for _, key := range slices.Sorted(maps.Keys(over)) {
		value := over[key]
		for known := range base {
			if strings.EqualFold(known, key) {
				key = known
			}
		}
		own, isObject := base[key].(map[string]any)
		if more, ok := value.(map[string]any); ok && isObject {
			value = merged(own, more)
		}
		base[key] = value
	}
	return base
}

// functionFiles writes the function.json of the functions that the scenario adds, and
// changes those of the app that have another policy here.
func (s *Scenario) functionFiles(dir string, files map[string]string) error {
	for name, f := range s.Functions {
		content := map[string]any{}
		path := nameIn(describedIn(dir), name) + "/function.json"
		switch {
		case f.Trigger != nil:
			content["bindings"] = bindingsOf(f)
		case f.Retry == nil && f.Redeliver == nil:
			continue
		default:
			own, err := s.functionFile(dir, name)
			if err != nil {
				return err
			}
			path = own.File()
			content, _ = own.Value().(map[string]any)
		}
		if f.Retry != nil {
			content["retry"] = f.Retry
		}
		if f.Redeliver != nil {
			content["redeliver"] = f.Redeliver
		}
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		files[path] = string(text)
	}
	return nil
}

// bindingsOf are the bindings of a function that the scenario adds, the trigger first.
func bindingsOf(f function) []map[string]any {
	trigger := map[string]any{"direction": "in", "name": "item"}
	maps.Copy(trigger, f.Trigger)
	list := []map[string]any{trigger}
	answers := false
	for _, b := range f.Bindings {
		answers = answers || b["name"] == "$return"
		list = append(list, b)
	}
	if kind, _ := trigger["type"].(string); !answers && routed(kind) {
		list = append(list, map[string]any{"type": "http", "direction": "out", "name": "$return"})
	}
	return list
}

// routed reports whether functions with a trigger are called by requests, and answer.
func routed(trigger string) bool {
	return slices.ContainsFunc(served.Facts().Triggers, func(k app.Kind) bool { return k.Routed && strings.EqualFold(k.Type, trigger) })
}

// functionFile reads the function.json of a function of the app.
func (s *Scenario) functionFile(dir, name string) (*schemas.Document, error) {
	for _, folder := range describedIn(dir) {
		if !strings.EqualFold(folder, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, folder, "function.json"))
		if err != nil {
			return nil, err
		}
		doc, fault := schemas.Parse(folder+"/function.json", text)
		if fault != nil {
			return nil, fault
		}
		return doc, nil
	}
	reason := "the app has no function.json of this name"
	if near := schemas.Meant(name, describedIn(dir)); near != "" {
		reason += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, s.fault(s.path(name), reason, "a function that the app describes in a function.json; any other needs a trigger here")
}

// bindingsIn are the bindings of a function.json.
func bindingsIn(doc *schemas.Document) (list []map[string]any) {
	given, _ := doc.Lookup("bindings")
	all, _ := given.([]any)
	for _, b := range all {
		binding, _ := b.(map[string]any)
		list = append(list, binding)
	}
	return list
}

// nameIn is a name as a list has it, whatever its case; another name stays.
func nameIn(list []string, name string) string {
	if i := slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(s, name) }); i >= 0 {
		return list[i]
	}
	return name
}

// describedIn are the names of the functions that an app describes in files; none without an
// app.
func describedIn(dir string) []string {
	if dir == "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*", "function.json")) // the pattern is good
	names := make([]string, len(found))
	for i, path := range found {
		names[i] = filepath.Base(filepath.Dir(path))
	}
	return names
}

// handlers are the scripted handlers of the scenario. Functions without a script succeed.
func (s *Scenario) handlers(dir string, seed uint64, before *lineage, played players) (*functions.App, error) {
	registered := functions.New()
	scripts := map[string]*script{}
	described := describedIn(dir)
	only := s.activitiesOnly(dir)
	for _, name := range described {
		if !s.attached && !only {
			scripts[name] = &script{}
		}
	}
	for _, given := range slices.Sorted(maps.Keys(s.Functions)) {
		name, f := given, s.Functions[given]
		run := f.Handler
		if run == nil && (s.attached || only) {
			continue
		}
		if run == nil {
			run = &script{}
		}
		if f.Trigger == nil && (!only || hasName(described, name)) {
			own, err := s.functionFile(dir, name)
			if err != nil {
				return nil, err
			}
			name = filepath.Dir(own.File())
			if faults := s.outputFaults(s.path(given), run, bindingsIn(own)); len(faults) > 0 {
				return nil, faults[0]
			}
		}
		scripts[nameIn(described, name)] = run
	}
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		p := &player{activity: only, seed: seed, script: scripts[name], done: map[string]int{}, matched: make([]bool, len(scripts[name].actions))}
		played[journal.Qualified(s.of, name)] = p
		if s.redrives() {
			p.before = before
		}
		registered.Handle(name, p.run)
	}
	return registered, nil
}

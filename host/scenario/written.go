package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/schemas"
)

// checkFiles finds keys that have no effect in what the scenario writes into files of the
// app: host.json, function.json, and the entities of Service Bus.
func (s *Scenario) checkFiles(faults []*schemas.Fault) []*schemas.Fault {
	place := func(list []*schemas.Fault, at func(path string) string) {
		for _, f := range list {
			reason := f.Reason
			if f.Hint != "" {
				reason += "; " + f.Hint
			}
			faults = append(faults, s.doc.Fault(at(f.Path), f.Found, f.Allowed, reason))
		}
	}
	if s.expectsLints() {
		return s.checkScripts(faults) // check tells of keys without effect: they are its subject
	}
	if doc, fault := schemas.Parse("host.json", s.Host); len(s.Host) > 0 && fault == nil {
		place(doc.Unknown(schemas.HostJSON), func(path string) string { return "host." + path })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		if section, ok := appsettings.HostSetting(name, s.Settings[name]); ok {
			place(section.Unknown(schemas.HostJSON), func(string) string { return schemas.JoinPath("settings", name) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Functions)) {
		f := s.Functions[name]
		if slices.Contains(s.inError(), name) {
			continue // it is about what is wrong with it
		}
		faults = s.checkTypes(schemas.JoinPath("functions", name), &f, faults)
		place(misspelt(f.file()), func(path string) string { return inFunction(schemas.JoinPath("functions", name), path) })
	}
	if config := s.Entities.config(); config != nil {
		place(entityFaults(config), s.Entities.path)
	}
	return s.checkScripts(faults)
}

// expectsLints reports whether the scenario is about what check says of its app.
func (s *Scenario) expectsLints() bool {
	return slices.ContainsFunc(s.expectations(), func(e *expect) bool { return e.Lints != nil })
}

// file is what the scenario says of a function, in the form of function.json.
func (f *function) file() *schemas.Document {
	content := map[string]any{}
	if f.Trigger != nil {
		content["bindings"] = bindingsOf(*f)
	}
	if f.Retry != nil {
		content["retry"] = f.Retry
	}
	if f.Redeliver != nil {
		content["redeliver"] = f.Redeliver
	}
	text, _ := json.Marshal(content) // values that were read from JSON
	doc, fault := schemas.Parse("function.json", text)
	if fault != nil {
		panic("scenario: " + fault.Error())
	}
	return doc
}

// misspelt are the keys of a function.json that are near to others. Further keys may be those
// of extensions.
func misspelt(doc *schemas.Document) []*schemas.Fault {
	list := doc.Misspelt(schemas.FunctionJSON)
	for _, f := range list {
		f.Reason, f.Hint = "unknown key, which has no effect", "did you mean "+f.Allowed+"?"
	}
	return list
}

// checkTypes finds types of bindings that are near to those of this program. Others are of
// extensions, or an error of the function.
func (s *Scenario) checkTypes(at string, f *function, faults []*schemas.Fault) []*schemas.Fault {
	if f.Trigger == nil {
		return faults
	}
	facts := served.Facts()
	var types []string
	for _, k := range facts.Triggers {
		types = append(types, k.Type)
	}
	for _, k := range facts.Bindings {
		types = append(types, k.Type)
	}
	for i, b := range bindingsOf(*f) {
		typ, _ := b["type"].(string)
		near := schemas.Nearest(typ, types)
		if near == "" || strings.EqualFold(near, typ) {
			continue
		}
		path := inFunction(at, schemas.IndexPath("bindings", i)+".type")
		faults = append(faults, s.doc.Fault(path, schemas.Quote(typ), "", fmt.Sprintf("there is no such type of a binding; did you mean %q?", near)))
	}
	return faults
}

var bindingPath = regexp.MustCompile(`^bindings\[(\d+)\]`) // read only

// inFunction is a path of function.json in the scenario: the trigger stands before the other
// bindings.
func inFunction(at, path string) string {
	m := bindingPath.FindStringSubmatch(path)
	if m == nil {
		return at + "." + path
	}
	rest := strings.TrimPrefix(path, m[0])
	n, _ := strconv.Atoi(m[1]) // digits
	if n == 0 {
		return schemas.JoinPath(at, "trigger") + rest
	}
	return schemas.IndexPath(schemas.JoinPath(at, "bindings"), n-1) + rest
}

// checkScripts finds outputs of scripts that their functions do not have. Of a function of
// the app its own file tells, when it runs.
func (s *Scenario) checkScripts(faults []*schemas.Fault) []*schemas.Fault {
	for _, name := range slices.Sorted(maps.Keys(s.Functions)) {
		if f := s.Functions[name]; f.Trigger != nil {
			faults = append(faults, s.outputFaults(schemas.JoinPath("functions", name), f.Handler, bindingsOf(f))...)
		}
	}
	return faults
}

// outputFaults are the outputs that a script sets and that no binding is.
func (s *Scenario) outputFaults(at string, script *script, bindings []map[string]any) (faults []*schemas.Fault) {
	if script == nil {
		return nil
	}
	have := names{}
	for _, b := range bindings {
		name, _ := b["name"].(string)
		if direction, _ := b["direction"].(string); !strings.EqualFold(direction, "in") {
			have.add(anOutput, name)
		}
	}
	for i, a := range script.actions {
		for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
			if slices.Contains(have[anOutput], name) {
				continue
			}
			reason, list := have.unknown(anOutput, name)
			path := schemas.JoinPath(at, "handler")
			if _, listed := s.doc.Lookup(schemas.IndexPath(path, i)); listed {
				path = schemas.IndexPath(path, i)
			}
			faults = append(faults, s.doc.Fault(schemas.JoinPath(schemas.JoinPath(path, "outputs"), name), schemas.Quote(name), list, reason))
		}
	}
	return faults
}

// entityFaults are what is wrong in a description of entities, and keys without effect.
func entityFaults(content map[string]any) []*schemas.Fault {
	text, err := json.Marshal(content)
	if err != nil {
		return nil
	}
	described, faults := config.Parse(entitiesFile, text)
	for _, w := range described.Warnings {
		w.Reason, w.Hint = "unknown key, which has no effect", ""
		if near := schemas.Meant(strings.Trim(w.Found, `"`), append(strings.Split(w.Allowed, ", "), "Subscriptions", "Rules")); near != "" {
			near = strings.ToLower(near[:1]) + near[1:]
			w.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return append(faults, described.Warnings...)
}

var entityStep = regexp.MustCompile(`(Queues|Topics|Subscriptions|Rules)\[(\d+)\]`) // read only

// path is a path of the entities' file in the scenario.
func (e *entities) path(path string) string {
	out := "entities.serviceBus"
	var level any = map[string]any{"queues": anyMap(e.ServiceBus.Queues), "topics": anyMap(e.ServiceBus.Topics)}
	rest := path
	for _, m := range entityStep.FindAllStringSubmatch(path, -1) {
		key := strings.ToLower(m[1])
		members, _ := level.(map[string]any)
		named, _ := members[key].(map[string]any)
		sorted := slices.Sorted(maps.Keys(named))
		n, _ := strconv.Atoi(m[2]) // digits
		if n >= len(sorted) {
			return out
		}
		out = schemas.JoinPath(schemas.JoinPath(out, key), sorted[n])
		level = named[sorted[n]]
		_, rest, _ = strings.Cut(rest, m[0])
	}
	properties, _ := level.(map[string]any)
	_, name, _ := strings.Cut(rest, ".Properties.")
	for key := range properties {
		if strings.EqualFold(key, name) {
			return schemas.JoinPath(out, key)
		}
	}
	return out
}

func anyMap(m map[string]map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = value
	}
	return out
}

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// readFunctionFile reads function.json into f. Faults are recorded; it always reads
// as far as it can.
func (l *loader) readFunctionFile(f *Function, path string) {
	text, err := l.readFile(path)
	if err != nil {
		f.fault(syntax, "", schemas.KindJSON, "", "", "the file cannot be read: "+document.Cause(err))
		return
	}
	l.hash(f.File, text)
	doc, fault := schemas.Parse(f.File, text)
	if fault != nil {
		fault.Kind = schemas.KindJSON
		f.record(syntax, fault)
		return
	}
	f.doc = doc
	if l.host.earlierBundle {
		doc.ReadEarlier()
	}
	root, ok := doc.Value().(map[string]any)
	if !ok {
		f.fault(syntax, "", schemas.KindJSON, doc.Found(""), "an object", "function.json must hold a JSON object")
		return
	}
	f.Config = doc.JSON()
	canonical := doc.Canonical(schemas.FunctionJSON)
	l.readContent(f, root, canonical)
	l.script(f, root)
	if source, _ := canonical["configurationSource"].(string); source == "attributes" && l.app.Handler.Kind == Custom {
		f.fault(configurationSource, f.at("configurationSource"), schemas.KindFormat, schemas.Quote(source), `"config"`, "a custom handler has no functions in code")
	}
	for _, fault := range doc.Validate(schemas.FunctionJSON) {
		f.schemaFault(fault, fault.Path)
	}
	f.nearMisses = withoutRenamed(doc.Misspelt(schemas.FunctionJSON), schemas.FunctionJSON)
}

// schemaFault records what the schema found, unless there is a fault about the
// same value already. path is where it is in function.json's own terms.
func (f *Function) schemaFault(fault *schemas.Fault, path string) {
	odd := f.odd(fault)
	if odd == AnyDirection || covered(f.staged, fault) {
		return
	}
	if odd == LateDirections {
		fault.Reason += "; " + FailsDeliveries
	}
	for _, b := range f.Bindings {
		if b.Name == "$return" && fault.Path == schemas.JoinPath(b.Path, "direction") && b.Direction != "out" {
			fault.Kind, fault.Reason = schemas.KindArgument, "the binding $return must have direction out"
		}
	}
	f.renameHint(fault)
	f.record(stageOf(fault, path), fault)
}

// stageOf returns the stage of a fault that the schema found at path.
func stageOf(f *schemas.Fault, path string) stage {
	top, rest, _ := strings.Cut(path, ".")
	top, _, isItem := strings.Cut(top, "[")
	switch strings.ToLower(top) {
	case "bindings":
		switch {
		case !isItem:
			return bindingsPresent
		case strings.EqualFold(rest, "name"), f.Kind == schemas.KindArgument && strings.EqualFold(rest, "direction"):
			return bindingName // $return is checked with the names
		case f.Kind == schemas.KindInvalidOperation:
			return indexing
		case strings.EqualFold(rest, "type"), strings.EqualFold(rest, "direction"), strings.EqualFold(rest, "dataType"),
			strings.EqualFold(rest, "cardinality"), strings.EqualFold(rest, "connection"), rest == "":
			return bindingParsed
		}
		return indexing // properties of a kind are read when the function is indexed
	case "configurationsource":
		return configurationSource
	case "scriptfile", "entrypoint":
		return scriptFile
	case "retry":
		return retryPolicy
	}
	return indexing
}

// readContent reads what function.json and a declaration have in common.
func (l *loader) readContent(f *Function, root, canonical map[string]any) {
	l.readBindings(f, root["bindings"], canonical["bindings"])
	r := document.Reader{Doc: f.doc, Spans: &f.spans}
	if raw, given := root["retry"]; given && raw != nil && raw != "" {
		policy, faults := r.ReadPolicy(f.at("retry"), canonical["retry"], schemas.KindJSON, false)
		if f.own = policy != nil || len(faults) > 0; !f.own {
			path := f.at("retry.strategy")
			f.warnAt(path, f.doc.Found(path), document.AllowedFor("strategy"), "no strategy has this number: the function has the policy of host.json, if there is one", "")
		}
		for _, fault := range faults {
			f.record(retryPolicy, fault)
		}
		f.setPolicy(policy, FromFunction, f.file(), f.at("retry"))
	}
	f.CircuitBreaker = readBreaker(r, f.at("redeliver.circuitBreaker"))
}

func (f *Function) setPolicy(p *retrycontext.Policy, source PolicySource, file, path string) {
	if p != nil {
		f.Original, f.PolicySource, f.PolicyFile, f.PolicyPath = p, source, file, path
	}
}

// fromCode adds the functions that the handler declares. Of one that has a folder
// the function.json counts as a whole, as on the platform, which has one source of
// functions (spec host-and-retry 1.5).
func (l *loader) fromCode(folders []*Function) []*Function {
	var functions []*Function
	if l.opts.InFiles {
		for _, f := range folders {
			f.Declared = true
		}
	}
	for i := range l.opts.Declared {
		d := &l.opts.Declared[i]
		if f := findFunction(folders, d.Name); f != nil {
			f.Declared = true
			f.overrule(d)
			continue
		}
		if l.idle(d) {
			continue
		}
		functions = append(functions, l.declaredFunction(d))
	}
	return functions
}

// idle warns of a handler that no function uses: it declares no bindings and has no
// folder, or the function went with its folder.
func (l *loader) idle(d *call.Declaration) bool {
	f := &schemas.Fault{File: document.CodeFile, Path: schemas.JoinPath("", d.Name)}
	switch {
	case slices.ContainsFunc(l.opts.Removed, func(name string) bool { return strings.EqualFold(name, d.Name) }):
		f.Reason = "the function's folder was removed, and the function with it; the program still has its handler"
		f.Hint = "remove the handler from the code"
		if len(d.Bindings) > 0 {
			f.Hint += ", or the next start runs the function as the code declares it"
		}
	case len(d.Bindings) == 0:
		f.Reason = "the program has a handler of this name that declares no bindings, and there is no function.json: it does not run"
		f.Hint = "declare a trigger in code, add the folder " + d.Name + " with a function.json, or remove the handler from the code"
	default:
		return false
	}
	l.warn(f)
	l.app.IdleHandlers = append(l.app.IdleHandlers, f)
	return true
}

func findFunction(functions []*Function, name string) *Function {
	for _, f := range functions {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}

// overrule warns of what the code declares of a function whose file does not say it.
func (f *Function) overrule(d *call.Declaration) {
	if f.doc == nil {
		return
	}
	for _, c := range []struct {
		given bool
		key   string
	}{
		{d.Retry != nil, "retry"},
		{d.CircuitBreaker != nil, "redeliver.circuitBreaker"},
		{d.Disabled, "disabled"},
	} {
		if v, _ := f.doc.Lookup(c.key); c.given && v == nil {
			f.warn(&schemas.Fault{
				File: document.CodeFile, Path: schemas.JoinPath("", d.Name),
				Reason: fmt.Sprintf("the code declares %s of the function, which has no effect: %s counts as a whole", c.key, f.File),
				Hint:   fmt.Sprintf("write %s into %s", c.key, f.File),
			})
		}
	}
}

// addDeclared completes f by what is declared beside its bindings.
func (f *Function) addDeclared(d *call.Declaration) {
	if d.Retry != nil {
		f.own = true
		policy, faults := document.DeclaredPolicy(d.Name, d.Retry)
		for _, fault := range faults {
			f.record(retryPolicy, fault)
		}
		f.setPolicy(policy, FromCode, document.CodeFile, schemas.JoinPath(d.Name, "retry"))
	}
	if d.CircuitBreaker != nil {
		f.CircuitBreaker = declaredBreaker(f, d)
	}
	if d.Disabled {
		f.Disabled, f.DisabledBy = true, document.CodeFile
	}
}

// declaredFunction reads a declaration as if it were a function.json.
func (l *loader) declaredFunction(d *call.Declaration) *Function {
	f := &Function{Name: d.Name, Declared: true, base: schemas.JoinPath("", d.Name)}
	list := make([]json.RawMessage, len(d.Bindings))
	for i, text := range d.Bindings {
		list[i] = json.RawMessage("null")
		doc, fault := schemas.Parse(document.CodeFile, text)
		if fault != nil {
			fault.Path = schemas.IndexPath(f.at("bindings"), i)
			f.record(syntax, fault)
			continue
		}
		list[i] = doc.JSON()
	}
	f.Config = document.RawJSON(map[string]any{"bindings": list, "disabled": d.Disabled})
	inner, fault := schemas.Parse(document.CodeFile, f.Config)
	if fault != nil {
		f.record(syntax, fault)
		return f
	}
	var nested bytes.Buffer
	nested.WriteByte('{')
	nested.Write(document.RawJSON(d.Name))
	nested.WriteByte(':')
	nested.Write(f.Config)
	nested.WriteByte('}')
	if f.doc, fault = schemas.Parse(document.CodeFile, nested.Bytes()); fault != nil {
		f.record(syntax, fault)
		return f
	}
	if l.host.earlierBundle {
		inner.ReadEarlier()
	}
	root, _ := inner.Value().(map[string]any)
	l.readContent(f, root, inner.Canonical(schemas.FunctionJSON))
	for _, fault := range inner.Validate(schemas.FunctionJSON) {
		path := fault.Path
		fault.Path = f.at(path)
		f.schemaFault(fault, path)
	}
	f.nearMisses = withoutRenamed(inner.Misspelt(schemas.FunctionJSON), schemas.FunctionJSON)
	for _, near := range f.nearMisses {
		near.Path = f.at(near.Path)
		f.placed(near)
	}
	f.addDeclared(d)
	if d.Fault != "" {
		f.fault(indexing, f.base, schemas.KindInvalidOperation, "", "", strings.TrimSuffix(d.Fault, "."))
	}
	return f
}

package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/fixture"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/schemas"
)

// leaveOut leaves a function out whose trigger is the platform's but not served here.
// The app is in order, so that is a warning.
func (l *indexer) leaveOut(f *Function, b *Binding, kind *BindingKind) {
	f.NotServed, f.ForeignTrigger = b.Type+" "+kind.reason(b.Direction), true
	f.warnAt(b.PathOf("type"), schemas.Quote(b.Type), "", "the type "+kind.reason(b.Direction)+"; the function does not run, the others do", "")
}

// foreign prepares an input or output of the platform that this host does not serve: an
// output is recorded, an input has the fixed value that host.json gives it. Without one
// the function does not run; the app is in order, so that is a warning. reason says what is
// not served.
func (l *indexer) foreign(f *Function, b *Binding, kind *BindingKind, reason string) {
	if l.nothingServes() || f.Trigger != nil && l.foreignTrigger(f.Trigger.Type) != nil {
		return // the function does not run anyway
	}
	b.Foreign = true
	if b.Output() {
		f.warnAt(b.PathOf("type"), schemas.Quote(b.Type), "", "the type "+reason+"; the values that the function sets are recorded, and sent nowhere",
			fmt.Sprintf("%q shows it while the app runs", "redeliver peek output "+f.Name))
	}
	if b.Direction == "out" {
		return
	}
	if values, ok := l.fixedInput(f, b); ok {
		b.Fixed = values
		return
	}
	if f.NotServed == "" {
		f.NotServed, f.LacksInput = b.Type+" "+reason, true
	}
	f.warnAt(b.PathOf("type"), schemas.Quote(b.Type), "", "the type "+reason+"; the function does not run, the others do",
		fmt.Sprintf("give the input a fixed value in host.json, at %s, or leave the binding out", inputPath(f.Name, b.Name)))
}

// unserved is in the reason of all that is missing here.
const unserved = " that Redeliver does not serve"

// reason says that a type, or one direction of it, is not served.
func (k *BindingKind) reason(direction string) string {
	text := "is a binding of the platform (" + k.Of + ")" + unserved
	if len(k.Served) > 0 {
		text += map[string]string{"in": " as an input", "out": " as an output"}[direction]
	}
	return text
}

// unserved says why an input is foreign whose direction is served; empty: it is not.
func (l *indexer) unserved(f *Function, b *Binding, kind *BindingKind) string {
	if kind.Unserved == nil || b.Direction != "in" {
		return ""
	}
	if _, ok := l.givenInput(f, b); ok {
		return "has a fixed value"
	}
	return kind.Unserved(b)
}

// inputsPath is where host.json has the fixed values of inputs, by function and binding.
const inputsPath = hostjson.SwitchSection + ".inputs"

func inputPath(function, binding string) string {
	return schemas.JoinPath(schemas.JoinPath(inputsPath, function), binding)
}

// fixedInput returns the values that host.json gives to an input. Names match ignoring case.
func (l *indexer) fixedInput(f *Function, b *Binding) (fixture.List, bool) {
	value, ok := l.givenInput(f, b)
	if !ok {
		return nil, false
	}
	return fixture.Read(value, inputPath(f.Name, b.Name), b.Props, func(path, found, allowed, reason string) {
		f.record(indexing, l.app.hostDoc.Fault(path, found, allowed, reason))
	}), true
}

// givenInput returns what host.json has for an input.
func (l *indexer) givenInput(f *Function, b *Binding) (any, bool) {
	inputs, _ := l.app.hostDoc.Lookup(inputsPath)
	functions, _ := inputs.(map[string]any)
	_, of, _ := document.Member(functions, f.Name)
	values, _ := of.(map[string]any)
	_, value, ok := document.Member(values, b.Name)
	return value, ok
}

// unusedInputs warns about fixed values for inputs that there are not, or that are read
// from their service.
func (l *loader) unusedInputs() {
	inputs, _ := l.app.hostDoc.Lookup(inputsPath)
	functions, _ := inputs.(map[string]any)
	// Declarations in code are not known before the handlers were asked.
	known := len(l.app.Config.Functions) == 0 && (l.opts.Declared != nil || !l.app.Handler.Served())
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := l.app.Function(name)
		if f == nil {
			if known {
				l.unusedInput(schemas.JoinPath(inputsPath, name), name, "a fixed input names an unknown function", l.functionNames())
			}
			continue
		}
		values, _ := functions[name].(map[string]any)
		for _, binding := range slices.Sorted(maps.Keys(values)) {
			var inputs []string
			var b *Binding
			for _, other := range f.Bindings {
				if other.Foreign && other.Direction != "out" {
					inputs = append(inputs, other.Name)
				}
				if strings.EqualFold(other.Name, binding) {
					b = other
				}
			}
			switch path := inputPath(name, binding); {
			case b == nil:
				l.unusedInput(path, binding, fmt.Sprintf("a fixed input names a binding that is not in function %q", f.Name), inputs)
			case (!b.Foreign || b.Direction == "out") && f.Runs():
				l.unusedInput(path, binding, "the fixed input is not used: only inputs that Redeliver does not serve have one", nil)
			}
		}
	}
}

func (l *loader) functionNames() (names []string) {
	for _, f := range l.app.Functions {
		names = append(names, f.Name)
	}
	return names
}

// unusedInput warns about one name, with the nearest name that exists.
func (l *loader) unusedInput(path, name, reason string, known []string) {
	warning := l.app.hostDoc.Fault(path, schemas.Quote(name), "", reason)
	if near := schemas.Nearest(name, known); near != "" {
		warning.Hint = "write " + schemas.Quote(near) + " if that is meant"
	}
	l.warn(warning)
}

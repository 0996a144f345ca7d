package app

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/fixture"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// Function is one function of an app, good or in error.
type Function struct {
	// Name is the folder's name, or the declared name.
	Name string

	// Dir is the absolute path of its folder and File the path of its
	// function.json relative to the app ("Orders/function.json"). Both are empty
	// for a function that is declared in code only.
	Dir, File string

	// Declared is set when the handler process declares a function of this name.
	Declared bool

	// ScriptFile is the path of the script relative to the app, if one is needed.
	ScriptFile string

	// EntryPoint is function.json's entryPoint: the function in the script, if it is not
	// the usual one.
	EntryPoint string

	// Bindings come in the order of the file. Trigger is one of them; it is nil
	// when the function has none or several.
	Bindings []*Binding
	Trigger  *Binding

	// Kind is the trigger's kind; nil when Trigger is nil or its type unknown.
	Kind *Kind

	// Policy is the effective retry policy, after precedence and after the
	// switches retryCounting and retryTriggers; nil means none. Original is the
	// policy as configured, before the switches.
	Policy, Original *retrycontext.Policy

	// PolicySource, PolicyFile and PolicyPath say where Original comes from.
	PolicySource PolicySource
	PolicyFile   string
	PolicyPath   string

	// Disabled functions are loaded but have no listener; DisabledBy says in a
	// few words what disables them.
	Disabled   bool
	DisabledBy string

	// CircuitBreaker is nil unless function.json or the code configures one.
	CircuitBreaker *CircuitBreaker

	// NotServed says in a few words what this version does not serve, so that the
	// function does not run although it may be in order. It is empty for functions
	// that run, and says nothing about Faults.
	NotServed string

	// ForeignTrigger is set when NotServed says so of the trigger: the app itself asks
	// for what this host does not have.
	ForeignTrigger bool

	// LacksInput is set when NotServed says so of an input, which host.json gives no
	// fixed value: redeliver.inputs.
	LacksInput bool

	// Unloaded is why the language worker could not load the function: a module that is
	// missing, for instance. The host sets it before the function runs. Its listener runs
	// then, and all its attempts fail, as on the platform.
	Unloaded string

	// Faults put the function in error: it is excluded, the others run. They
	// come in file order; the one that the platform would report is First.
	Faults []*schemas.Fault

	// Warnings are lesser things that are wrong.
	Warnings []*schemas.Fault

	// Config is function.json (or the declaration in that form) as strict JSON,
	// for the admin API; nil when it could not be parsed.
	Config json.RawMessage

	doc        *schemas.Document
	base       string // path of the function in doc: "" in function.json, the name in code
	own        bool   // it has a retry object of its own, good or bad
	spans      []document.SpanText
	nearMisses []*schemas.Fault
	staged     []stagedFault
	routed     *routePlace             // of a function that a route of host.json makes
	repeats    map[*schemas.Fault]bool // faults that say what another function's says
}

// Runs reports whether the function can run here: it is not in error, and what runs
// it is served.
func (f *Function) Runs() bool { return !f.InError() && f.NotServed == "" }

// Routed reports whether requests reach the function by a route of HTTP.
func (f *Function) Routed() bool { return f.Kind != nil && f.Kind.Routed }

// TakesEvents reports whether event subscriptions may name the function.
func (f *Function) TakesEvents() bool { return f.Kind != nil && f.Kind.TakesEvents }

// hasFault reports whether a fault of that stage was found.
func (f *Function) hasFault(s stage) bool {
	return slices.ContainsFunc(f.staged, func(have stagedFault) bool { return have.stage == s })
}

// InError reports whether the function is excluded because of its faults.
func (f *Function) InError() bool { return len(f.Faults) > 0 }

// PolicySource says which level a function's policy comes from; empty: it has none.
type PolicySource string

// The sources of a policy. A policy of host.json in which the environment
// overrides a value is FromEnvironment.
const (
	FromFunction    PolicySource = "function"
	FromApp         PolicySource = "app"
	FromEnvironment PolicySource = "environment"
	FromCode        PolicySource = "code"
)

// Binding is one binding of a function.
type Binding struct {
	// Name is the parameter's name, or "$return".
	Name string
	// Type is as written; compare it with [Binding.Is].
	Type string
	// Direction is "in", "out" or "inout".
	Direction string
	// DataType is "", "undefined", "string", "binary" or "stream";
	// Cardinality "", "one" or "many". Both in lower case.
	DataType, Cardinality string
	// Connection is the name of a setting, %x% replaced; "" means the default of
	// the service.
	Connection string
	// Props are all properties as decoded JSON (numbers as json.Number), keys as
	// written, %x% in texts replaced.
	Props map[string]any
	// Path is the JSON path of the binding in its file, e.g. "bindings[0]".
	Path string

	// Kind is the kind of a binding that is no trigger; nil when its type is unknown.
	Kind *BindingKind

	// Foreign is set for an input or output of the platform that this host does not
	// serve: what an output is set to is recorded, and an input has one of the values Fixed.
	Foreign bool
	Fixed   fixture.List

	odd     DirectionRule     // of a direction that is not written as its word
	earlier map[string]string // keys under which properties stand in the file, by those they have here
}

// IsTrigger reports whether the binding triggers its function: its type ends in
// "trigger" (any case) and it is not an output.
func (b *Binding) IsTrigger() bool { return isTriggerType(b.Type) && b.Direction != "out" }

// Is reports whether the binding is of the given type, ignoring case.
func (b *Binding) Is(typ string) bool { return strings.EqualFold(b.Type, typ) }

// Answers reports whether the binding is the answer to a request, see [BindingKind].
func (b *Binding) Answers() bool { return b.Kind != nil && b.Kind.Answers }

// Output reports whether the binding writes.
func (b *Binding) Output() bool { return b.Direction == "out" || b.Direction == "inout" }

// Value returns the property of that name, ignoring case; nil when absent.
func (b *Binding) Value(key string) any {
	_, v, _ := document.Member(b.Props, key)
	return v
}

// String returns the property of that name, ignoring case, when it is a text,
// number or boolean; "" otherwise.
func (b *Binding) String(key string) string { return document.ScalarText(b.Value(key)) }

// PathOf returns the JSON path of a property, in the spelling of the file.
func (b *Binding) PathOf(key string) string {
	if old, ok := b.earlier[key]; ok {
		key = old
	} else if name, _, ok := document.Member(b.Props, key); ok {
		key = name
	}
	return schemas.JoinPath(b.Path, key)
}

func isTriggerType(typ string) bool {
	const suffix = "trigger"
	return len(typ) >= len(suffix) && strings.EqualFold(typ[len(typ)-len(suffix):], suffix)
}

// The stages of a function (spec host-and-retry 5.4, order rule): the platform's
// checks while it reads a function.json, then those when it builds the function,
// then those when it indexes it.
const (
	nameOfFunction stage = iota + 100 // apart from the stages of an app
	syntax
	bindingsPresent
	bindingParsed
	configurationSource
	scriptFile
	retryPolicy
	bindingName
	duplicateName
	triggerCount
	indexing
)

// fault records a fault of the function at a JSON path of its file.
func (f *Function) fault(s stage, path string, kind schemas.Kind, found, allowed, reason string) *schemas.Fault {
	fault := &schemas.Fault{File: f.file(), Path: path, Kind: kind, Found: found, Allowed: allowed, Reason: reason}
	f.record(s, document.Position(fault, f.doc))
	return fault
}

// record adds a fault that is complete except for its place in code.
func (f *Function) record(s stage, fault *schemas.Fault) {
	f.staged = append(f.staged, stagedFault{s, f.placed(fault)})
}

func (f *Function) warn(fault *schemas.Fault) {
	f.Warnings = append(f.Warnings, f.placed(fault))
}

// placed takes the position away from declarations in code: it would be a position
// in a text that the user never sees.
func (f *Function) placed(fault *schemas.Fault) *schemas.Fault {
	if fault.File == "" {
		fault.File = f.file()
	}
	if f.routed != nil {
		f.routed.take(fault)
	}
	if fault.File == document.CodeFile {
		fault.Line, fault.Column = 0, 0
	}
	return fault
}

// file is the file that the function's faults name.
func (f *Function) file() string {
	if f.File != "" {
		return f.File
	}
	return document.CodeFile
}

// at returns the path in f.doc of a path within the function.
func (f *Function) at(path string) string {
	switch {
	case f.base == "":
		return path
	case path == "" || path[0] == '[':
		return f.base + path
	}
	return f.base + "." + path
}

// warnAt records a warning at a JSON path.
func (f *Function) warnAt(path, found, allowed, reason, hint string) {
	f.warn(document.Position(&schemas.Fault{File: f.file(), Path: path, Found: found, Allowed: allowed, Reason: reason, Hint: hint}, f.doc))
}

// WarmUpTrigger is the type of the warm-up trigger.
const WarmUpTrigger = "warmupTrigger"

// WarmUp is the function that the call of /admin/warmup runs, or nil.
func (a *App) WarmUp() *Function {
	for _, f := range a.Functions {
		if f.WarmsUp() {
			return f
		}
	}
	return nil
}

// WarmsUp reports whether the platform calls a warm-up function: only the one named
// "warmup", in any case (functions-bindings-warmup).
func (f *Function) WarmsUp() bool {
	return f.Trigger.Type == WarmUpTrigger && strings.EqualFold(f.Name, "warmup")
}

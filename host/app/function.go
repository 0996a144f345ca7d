package app

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

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

	// FromCode is set when the bindings come from a declaration. Declared is set
	// when the handler process declares a function of this name at all.
	FromCode, Declared bool

	// ScriptFile is the path of the script relative to the app, if one is needed.
	ScriptFile, EntryPoint string

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

	// CircuitBreaker is nil unless function.json configures one.
	CircuitBreaker *CircuitBreaker

	// Faults put the function in error: it is excluded, the others run. They
	// come in file order; the one that the platform would report is First.
	Faults []*schemas.Fault

	// Warnings are lesser things that are wrong.
	Warnings []*schemas.Fault

	// Config is function.json (or the declaration in that form) as strict JSON,
	// for the admin API; nil when it could not be parsed.
	Config json.RawMessage
}

// InError reports whether the function is excluded because of its faults.
func (f *Function) InError() bool { return len(f.Faults) > 0 }

// PolicySource says which level a function's policy comes from.
type PolicySource string

// The sources of a policy. A policy of host.json in which the environment
// overrides a value is FromEnvironment.
const (
	FromNowhere     PolicySource = ""
	FromFunction    PolicySource = "function"
	FromApp         PolicySource = "app"
	FromEnvironment PolicySource = "environment"
	FromCode        PolicySource = "code"
)

// CircuitBreaker is function.json's redeliver.circuitBreaker, an extension of
// ours (host-and-retry 14.2).
type CircuitBreaker struct {
	Failures int           // consecutive failed deliveries that open it, at least 1
	Pause    time.Duration // how long it stays open, above 0
	Probes   int           // deliveries let through half-open, at least 1
}

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
	// written, %x% in strings replaced.
	Props map[string]any
	// Path is the JSON path of the binding in its file, e.g. "bindings[0]".
	Path string
}

// IsTrigger reports whether the binding triggers its function: its type ends in
// "trigger" (any case) and it is not an output.
func (b *Binding) IsTrigger() bool { return isTriggerType(b.Type) && b.Direction != "out" }

// Is reports whether the binding is of the given type, ignoring case.
func (b *Binding) Is(typ string) bool { return strings.EqualFold(b.Type, typ) }

// Output reports whether the binding writes.
func (b *Binding) Output() bool { return b.Direction == "out" || b.Direction == "inout" }

// Value returns the property of that name, ignoring case; nil when absent.
func (b *Binding) Value(key string) any {
	if v, ok := b.Props[key]; ok {
		return v
	}
	var found string
	var value any
	for k, v := range b.Props {
		if strings.EqualFold(k, key) && (found == "" || k > found) {
			found, value = k, v
		}
	}
	return value
}

// String returns the property of that name, ignoring case, when it is a text,
// number or boolean; "" otherwise.
func (b *Binding) String(key string) string {
	switch v := b.Value(key).(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}

func isTriggerType(typ string) bool {
	const suffix = "trigger"
	return len(typ) >= len(suffix) && strings.EqualFold(typ[len(typ)-len(suffix):], suffix)
}

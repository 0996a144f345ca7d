package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Functions are what an app has, for the checks of what a plan calls.
type Functions struct {
	known map[durable.Function]bool // names in lower case; false: disabled
	names map[durable.Kind][]string
}

// NewFunctions returns the functions that apps have.
func NewFunctions(known, disabled []durable.Function) *Functions {
	f := &Functions{known: map[durable.Function]bool{}, names: map[durable.Kind][]string{}}
	for _, d := range disabled {
		f.known[folded(d)] = false
	}
	for _, k := range known {
		f.known[folded(k)] = true
		f.names[k.Kind] = append(f.names[k.Kind], k.Name)
	}
	for kind := range f.names {
		slices.Sort(f.names[kind])
	}
	return f
}

func folded(f durable.Function) durable.Function {
	f.Name = strings.ToLower(f.Name)
	return f
}

// Has reports whether a function is there, and whether it runs. Nil functions have all.
func (f *Functions) Has(kind durable.Kind, name string) (there, runs bool) {
	if f == nil {
		return true, true
	}
	runs, there = f.known[durable.Function{Kind: kind, Name: strings.ToLower(name)}]
	return there, runs
}

// Missing is the platform's sentence for a function that does not exist or is disabled.
//
// Source: ext DurableTaskExtension.cs, GetInvalidActivityFunctionMessage and its like.
func (f *Functions) Missing(kind durable.Kind, name string) string {
	word, article := [...]string{"orchestrator", "activity", "entity"}[kind], "an"
	known := fmt.Sprintf("No %s functions are currently registered!", word)
	if f != nil && len(f.names[kind]) > 0 {
		known = fmt.Sprintf("The following are the known %s functions: '%s'.", word, strings.Join(f.names[kind], "', '"))
	}
	return fmt.Sprintf("The function '%s' doesn't exist, is disabled, or is not %s %s function. Additional info: %s", name, article, word, known)
}

// exceptionText is the JSON text of an exception (spec durable 3.3).
func exceptionText(message, stack string) string {
	b := append([]byte(`{"$type":"System.Exception, System.Private.CoreLib","ClassName":"System.Exception","Message":`), quoted(message)...)
	b = append(append(b, `,"StackTraceString":`...), quoted(stack)...)
	return string(append(b, '}'))
}

// ActivityFailure sets in an end how an activity has failed (spec durable 3.3).
func ActivityFailure(end *durable.Event, name string, r *durable.Reply) {
	message, _, _ := strings.Cut(r.Message, label)
	if failure := readDetails([]byte(strings.TrimSpace(message))); failure != nil {
		end.Reason, end.Failure = text("Activity function '"+name+"' failed with an unhandled exception."), failure
		return
	}
	end.Reason, end.Details = text("Activity function '"+name+"' failed: "+message), text(exceptionText(message, r.Stack))
}

// failedText begins the failure of an orchestrator.
func failedText(name, message string) string {
	return "Orchestrator function '" + name + "' failed: " + message
}

func text(s string) *string { return &s }

// quoted is a text as JSON.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		panic(err)
	}
	return b
}

// platformText is an error in the platform's words, which begin and end as its sentences do.
type platformText string

// Error implements error.
func (t platformText) Error() string { return string(t) }

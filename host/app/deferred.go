package app

import (
	"regexp"
	"strings"
)

// Deferred reports whether the binding asks for deferred binding: a library in the worker
// makes the value (spec workers-dotnet-java 1.8). What is not served that way has its
// ordinary value.
func (b *Binding) Deferred() bool {
	properties, _ := b.Value("properties").(map[string]any)
	_, v, _ := member(properties, "supportsDeferredBinding")
	return strings.EqualFold(scalarText(v), "true")
}

var anExpression = regexp.MustCompile(`\{[^{}]*\}`)

// DefersTrigger reports whether the trigger has deferred binding. An expression in the
// first of the other bindings needs the ordinary value, and switches it off, as on the
// platform.
func (f *Function) DefersTrigger() bool {
	if f.Trigger == nil || !f.Trigger.Deferred() {
		return false
	}
	for _, b := range f.Bindings {
		if b == f.Trigger {
			continue
		}
		for _, v := range b.Props {
			if text, ok := v.(string); ok && anExpression.MatchString(text) {
				return false
			}
		}
		break
	}
	return true
}

package app

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
)

// Deferred reports whether the binding asks for deferred binding: a library in the worker
// makes the value (spec workers-dotnet-java 1.8). What is not served that way has its
// ordinary value.
func (b *Binding) Deferred() bool {
	properties, _ := b.Value("properties").(map[string]any)
	_, v, _ := document.Member(properties, "supportsDeferredBinding")
	return strings.EqualFold(document.ScalarText(v), "true")
}

var anExpression = regexp.MustCompile(`\{[^{}]*\}`)

// DefersTrigger reports whether the trigger has deferred binding. An expression in the
// first of the other bindings needs the ordinary value, and switches it off, as on the
// platform.
func (f *Function) DefersTrigger() bool {
	if f.Trigger == nil || !f.Trigger.Deferred() {
		return false
	}
	b, _ := f.NeedsPlainValue()
	return b == nil
}

// NeedsPlainValue returns the binding, and its property, that switch deferred binding of the
// trigger off by an expression; nil when there is none.
func (f *Function) NeedsPlainValue() (b *Binding, key string) {
	for _, b := range f.Bindings {
		if b == f.Trigger {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(b.Props)) {
			if text, ok := b.Props[key].(string); ok && anExpression.MatchString(text) {
				return b, key
			}
		}
		break
	}
	return nil, ""
}

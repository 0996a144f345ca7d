package app

import (
	"cmp"
	"strings"
)

// loops is L-16: an output that writes to what triggers the function runs it
// again, without end. Event Grid is not looked at, because a function does not
// name the topic that its events come from.
func (l *linter) loops(f *Function) {
	for _, b := range f.Bindings {
		if b == f.Trigger || f.Kind.Feeds == nil || b.Kind == nil || !b.Output() || !l.sameService(f, b) {
			continue
		}
		if key, target := f.Kind.Feeds(f.Trigger, b); key != "" {
			l.onBinding("L-16", f, b, key, "the output writes to %s, which triggers this function: every run starts another one, without end unless the handler leaves the output unset", target)
		}
	}
}

// sameService reports whether the trigger of a function and another of its bindings mean
// the same connection.
func (l *linter) sameService(f *Function, b *Binding) bool {
	value := func(name, otherwise string) string {
		name = cmp.Or(name, otherwise)
		if c, _ := l.app.Settings.Connection(name); c.Value != "" {
			return c.Value
		}
		return strings.ToLower(name)
	}
	return value(f.Trigger.Connection, f.Kind.Connection) == value(b.Connection, b.Kind.Connection)
}

package kinds

import "github.com/redeliver/redeliver/host/app"

// DataType is the dataType by which a trigger of messages makes its values. Where the
// binding names none, handlers of the platform get the members of a batch as JSON (see
// package bindings, Element), and handlers in Go, which the platform does not have, as text.
func DataType(f *Function) string {
	b := f.Def.Trigger
	if unset := b.DataType == "" || b.DataType == "undefined"; unset && !OfThePlatform(f) {
		return "string"
	}
	return b.DataType
}

// OfThePlatform reports whether the platform has such a handler: one in a language worker, or
// a custom one. It does not have those in Go, whose bodies are bytes.
func OfThePlatform(f *Function) bool {
	kind := f.App().Handler.Kind
	return kind == app.Language || kind == app.Custom
}

package kinds

import "github.com/redeliver/redeliver/host/app"

// DataType is the dataType by which a trigger of messages makes its values. Where the
// binding names none, handlers of the platform get the members of a batch as JSON (see
// package bindings, Element), and handlers in Go, which the platform does not have, as text.
func DataType(f *Function) string {
	b := f.Def.Trigger
	unset := b.DataType == "" || b.DataType == "undefined"
	if kind := f.App().Handler.Kind; unset && kind != app.Language && kind != app.Custom {
		return "string"
	}
	return b.DataType
}

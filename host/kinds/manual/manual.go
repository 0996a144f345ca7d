// Package manual is the kinds of triggers that no service is behind: manual and warm-up.
package manual

import (
	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is the manual trigger.
func Kind() kinds.Kind {
	return kinds.Kind{Kind: app.Kind{Type: "manualTrigger", NeedsStorage: true, End: end}, Message: message}
}

// WarmUp is the warm-up trigger.
func WarmUp() kinds.Kind {
	return kinds.Kind{
		Kind:    app.Kind{Type: app.WarmUpTrigger, NeedsStorage: true, End: warmEnd, Warn: warnWarm},
		Message: warm,
	}
}

// A manual function runs by a call by hand only: it has no listener (host:
// ManualTriggerAttributeBindingProvider.cs).

// message is the caller's input, with the binding data that it gives.
func message(f *kinds.Function, input string) (triggers.Message, error) {
	m := triggers.Message{Value: bindings.StringValue(input), Metadata: map[string]any{}}
	if f.Def.Trigger.DataType == "binary" {
		m.Value = bindings.BytesValue([]byte(input))
	}
	bindings.ApplyJSON(m.Metadata, []byte(input))
	return m, nil
}

func end(*app.App, *app.Function) string { return "the error to the caller" }

// A warm-up function runs by the call of /admin/warmup ([app.App.WarmUp]), and so has no
// listener either. It gets an empty context.
func warm(*kinds.Function, string) (triggers.Message, error) {
	return triggers.Message{Value: bindings.JSONValue([]byte("{}"))}, nil
}

func warnWarm(_ *app.App, f *app.Function) []*schemas.Fault {
	if f.WarmsUp() {
		return nil
	}
	return []*schemas.Fault{{
		Path: f.Trigger.PathOf("type"), Found: schemas.Quote(f.Trigger.Type),
		Reason: `the platform calls only the function named "warmup", so this one never runs by itself`,
	}}
}

func warmEnd(*app.App, *app.Function) string { return "without it: the app runs on" }

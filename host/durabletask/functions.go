package durabletask

import (
	"cmp"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/app"
)

// kinds are the triggers of Durable Functions, with the property that names the function.
var kinds = []struct { // read only
	trigger, property, older string
	kind                     durable.Kind
}{
	{"orchestrationTrigger", "orchestration", "", durable.Orchestrator},
	{"activityTrigger", "activity", "", durable.Activities},
	{"entityTrigger", "entityName", "entity_name", durable.EntityFunction},
}

// FunctionsOf are the functions of an app by the names that orchestrations know them by: in
// Known those that run, in Disabled the others.
func FunctionsOf(a *app.App) (out durable.Functions) {
	if a == nil {
		return out
	}
	for _, f := range a.Functions {
		for _, k := range kinds {
			if f.Trigger == nil || !f.Trigger.Is(k.trigger) {
				continue
			}
			name := cmp.Or(f.Trigger.String(k.property), f.Trigger.String(k.older), f.Name)
			if k.kind == durable.EntityFunction {
				name = strings.ToLower(name)
			}
			one := durable.Function{Kind: k.kind, Name: name}
			if f.Runs() {
				out.Known = append(out.Known, one)
			} else {
				out.Disabled = append(out.Disabled, one)
			}
		}
	}
	return out
}

// Hub is a task hub by its name, "" for the app's own; nil: there is none.
func (a *API) Hub(name string) durable.Hub { return a.opts.Hub(name) }

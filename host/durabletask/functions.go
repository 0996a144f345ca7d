package durabletask

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/app"
)

// kinds are the triggers of Durable Functions.
var kinds = []struct { // read only
	trigger string
	kind    durable.Kind
}{
	{app.OrchestrationTrigger, durable.Orchestrator}, {app.ActivityTrigger, durable.Activities}, {app.EntityTrigger, durable.EntityFunction},
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
			one := durable.Function{Kind: k.kind, Name: f.DurableName()}
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

// Hubs lists the task hubs that there are, the app's own among them; known is false where any
// name is one.
func (a *API) Hubs() (names []string, known bool) {
	if a.opts.Hubs == nil {
		return nil, false
	}
	names = a.opts.Hubs()
	if own := a.Hub(""); own != nil && !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, own.Name()) }) {
		names = append(names, own.Name())
	}
	return names, true
}

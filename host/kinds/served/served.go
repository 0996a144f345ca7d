// Package served lists the kinds of triggers and bindings that the host serves. A new kind
// is one package and one line here.
package served

import (
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/blob"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/kinds/durable"
	"github.com/redeliver/redeliver/host/kinds/eventgrid"
	"github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/kinds/http"
	"github.com/redeliver/redeliver/host/kinds/manual"
	"github.com/redeliver/redeliver/host/kinds/queue"
	"github.com/redeliver/redeliver/host/kinds/servicebus"
	"github.com/redeliver/redeliver/host/kinds/table"
	"github.com/redeliver/redeliver/host/kinds/timer"
)

// triggers are the trigger kinds. The column OfficialRetry of their facts says which kinds
// the platform supports retry policies on; D-2 decides what follows from that.
var triggers = []func() kinds.Kind{ // read only
	http.Kind, queue.Kind, blob.Kind, servicebus.Kind, eventgrid.Kind, timer.Kind,
	eventhubs.Kind, cosmosdb.Kind, manual.Kind, manual.WarmUp,
	durable.Orchestrator, durable.Activity, durable.Entity,
}

// bindings are the output and input bindings.
var bindings = []func() kinds.Binding{ // read only
	http.Output, queue.Output, blob.Binding, table.Binding, servicebus.Output, eventhubs.Output, eventgrid.Output, cosmosdb.Binding,
	durable.Client, durable.OldClient,
}

// Facts are the facts of all kinds, for loading and checking an app without running it.
func Facts() (out app.Kinds) {
	for _, kind := range triggers {
		out.Triggers = append(out.Triggers, kind().Kind)
	}
	for _, kind := range bindings {
		out.Bindings = append(out.Bindings, kind().BindingKind)
	}
	return out
}

// Of returns the kind of a type, or nil.
func Of(typ string) *kinds.Kind {
	for _, kind := range triggers {
		if k := kind(); strings.EqualFold(k.Type, typ) {
			return &k
		}
	}
	return nil
}

// Report is the report of app.Check on an app that runs, with what its services know: an
// event subscription has its own number of deliveries.
func Report(a *app.App, env *kinds.Env) *app.Report {
	r := app.Check(a)
	for i := range r.Functions {
		f := &r.Functions[i]
		def, kind := a.Function(f.Name), Of(f.Trigger)
		if def != nil && kind != nil && kind.Observe != nil && !f.InError && f.NotServed == "" && f.Disabled == "" {
			kind.Observe(f, a, def, env)
		}
	}
	return r
}

// Binding returns the binding of a type; false: it is not served.
func Binding(b *app.Binding) (kinds.Binding, bool) {
	for _, binding := range bindings {
		if k := binding(); b.Is(k.Type) {
			return k, true
		}
	}
	return kinds.Binding{}, false
}

package durable

import (
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
)

// Hubs tells task hubs which functions the running app has. Its methods are used by the load
// that has its turn.
type Hubs struct {
	env    *kinds.Env
	served string // the hub that was told
}

// NewHubs returns Hubs that has told no hub yet.
func NewHubs(env *kinds.Env) *Hubs { return &Hubs{env: env} }

// Apply implements kinds.Resident. A hub that the app has left has no functions any more.
func (h *Hubs) Apply(g kinds.Generation) {
	hub := ""
	if g.App().UsesDurable() {
		hub = g.App().TaskHub()
	}
	if h.served != "" && h.served != hub {
		h.serve(h.served, durable.Functions{})
	}
	if h.served = hub; hub != "" {
		h.serve(hub, Functions(g))
	}
}

// Restore implements kinds.Resident.
func (h *Hubs) Restore(g kinds.Generation) error {
	if g != nil {
		h.Apply(g)
	}
	return nil
}

func (h *Hubs) serve(hub string, f durable.Functions) {
	h.env.Embedded.Durable().Hub(hub).Serve(journal.Qualified(h.env.AppName, h.env.Instance), f)
}

// Functions are the functions of a generation, and how the hub is to treat it.
func Functions(g kinds.Generation) durable.Functions {
	c, sw := g.App().Config.Durable, g.App().Switches
	out := durable.Functions{
		Runtime: runtimeOf(g.App()), Protocol: protocolOf(g.App()), Generation: g.ID(),
		MaxTurns: c.MaxConcurrentOrchestratorFunctions, MaxBatches: c.MaxConcurrentEntityFunctions,
		MaxActivities: c.MaxConcurrentActivityFunctions, MaxBatch: c.MaxEntityOperationBatchSize,
		MaxActions: c.MaxOrchestrationActions, HTTPPollInterval: c.AsyncRequestSleep,
		FailStuck: sw.DurableStuck == "fail", KeepEvents: sw.DurableEvents == "keep", AnyState: c.AnyState,
	}
	for _, f := range g.Functions() {
		one, ok := functionOf(f.Def)
		switch {
		case !ok:
		case f.Def.Disabled:
			out.Disabled = append(out.Disabled, one)
		default:
			out.Known = append(out.Known, one)
		}
	}
	return out
}

// functionOf is a function as a hub knows it; false: no trigger of Durable Functions runs it.
func functionOf(def *app.Function) (durable.Function, bool) {
	f := durable.Function{Name: def.DurableName()}
	switch {
	case def.Trigger.Is(app.OrchestrationTrigger):
		f.Kind = durable.Orchestrator
	case def.Trigger.Is(app.ActivityTrigger):
		f.Kind = durable.Activities
	case def.Trigger.Is(app.EntityTrigger):
		f.Kind = durable.EntityFunction
	default:
		return f, false
	}
	return f, true
}

// Package durable is the triggers and bindings of Durable Functions as the host knows them:
// orchestrators, entities and activities, and the client of a task hub.
//
// Read durable.go for the triggers, client.go for the client, hubs.go for what a hub is told
// of an app, and lints.go for what check says of their code. How work is taken and brought
// back is in package triggers/durable, what comes of it in the engine
// (host/emulator/durable), and the addresses that a client is given in host/durabletask.
//
// Left out: the protobuf protocol of runtimes that speak JSON (durableRequiresGrpc), whose
// functions are in error, as are those of custom handlers and Go (spec durable 2.2).
package durable

import (
	"errors"
	"fmt"
	"strings"

	trigger "github.com/redeliver/redeliver/triggers/durable"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

const of = "Durable Functions"

// Orchestrator is the trigger of orchestrators.
func Orchestrator() kinds.Kind {
	return kinds.Kind{
		Kind:   app.Kind{Type: app.OrchestrationTrigger, End: endOfTurn, Lint: lintOrchestrator, Validate: validate},
		Listen: listenTurns(durable.Orchestrator), Message: noMessage("an orchestrator"),
	}
}

// Entity is the trigger of entities.
func Entity() kinds.Kind {
	return kinds.Kind{
		Kind:   app.Kind{Type: app.EntityTrigger, End: endOfBatch, Lint: lintOrchestrator, Validate: validate},
		Listen: listenTurns(durable.EntityFunction), Message: noMessage("an entity"),
	}
}

// Activity is the trigger of activities.
func Activity() kinds.Kind {
	return kinds.Kind{
		Kind:   app.Kind{Type: app.ActivityTrigger, End: endOfActivity, Lint: lintActivity, Validate: validate},
		Listen: listenActivities, Message: message, Unsettled: triggers.Released,
	}
}

func endOfTurn(*app.App, *app.Function) string     { return "the instance fails" }
func endOfBatch(*app.App, *app.Function) string    { return "comes again, after 2 s, 4 s and so on" }
func endOfActivity(*app.App, *app.Function) string { return "the orchestration hears of it" }

func listenTurns(kind durable.Kind) func(t *kinds.Turn) (triggers.Listener, error) {
	return func(t *kinds.Turn) (triggers.Listener, error) {
		f := durable.Function{Kind: kind, Name: t.Def.DurableName()}
		return trigger.Turns(t.Clock, t.HubIn(t.App().TaskHub()), f, options(t.Function)), nil
	}
}

func listenActivities(t *kinds.Turn) (triggers.Listener, error) {
	return trigger.Activities(t.Clock, t.HubIn(t.App().TaskHub()), t.Def.DurableName(), t.Def.Trigger.Name, options(t.Function)), nil
}

func options(f *kinds.Function) *trigger.Options {
	protocol := protocolOf(f.App())
	return &trigger.Options{
		Protocol: protocol, Failed: func(err error) (message, stack string) { return failed(f, err) },
		Aborts: func(err error) bool {
			_, exited := errors.AsType[*process.ExitError](err)
			return exited && protocol == durable.Protobuf
		},
	}
}

// failed is what a worker has said of a failed call, as the texts of failures of the platform
// have it (spec durable 3.3, 6.3).
func failed(f *kinds.Function, err error) (message, stack string) {
	if said, ok := errors.AsType[*functions.Error](err); ok {
		return said.Message, said.Stack
	}
	if exit, ok := errors.AsType[*process.ExitError](err); ok && exit.Exit.Reason == "" {
		return fmt.Sprintf("%s exited with code %d (0x%X)", exit.Name, exit.Exit.Code, uint32(exit.Exit.Code)), ""
	}
	if timeout, ok := errors.AsType[triggers.Timeout](err); ok && timeout.Timeout() {
		limit := retrycontext.FormatTimeSpan(f.App().Config.FunctionTimeout)
		return "Timeout value of " + limit + " was exceeded by function: Functions." + f.Def.Name, ""
	}
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("function %q: ", f.Def.Name)), ""
}

// noMessage is for functions that nobody can call by hand.
func noMessage(what string) func(*kinds.Function, string) (triggers.Message, error) {
	return func(f *kinds.Function, _ string) (triggers.Message, error) {
		return triggers.Message{}, fmt.Errorf("function %q is %s: it is asked by its task hub only, and a client starts or signals it", f.Def.Name, what)
	}
}

// message is an activity's input in a call by hand: JSON, or else a text.
func message(f *kinds.Function, input string) (triggers.Message, error) {
	return trigger.ByHand(protocolOf(f.App()), f.Def.Trigger.Name, input), nil
}

// validate refuses what speaks the protobuf protocol (spec durable 2.2).
func validate(a *app.App, f *app.Function) []*schemas.Fault { return refused(a, f.Trigger) }

func refused(a *app.App, b *app.Binding) []*schemas.Fault {
	switch {
	case kinds.IsTrue(b.Value("durableRequiresGrpc"), false):
		return []*schemas.Fault{{
			Path: b.PathOf("durableRequiresGrpc"), Found: "true", Reason: "Durable Functions by gRPC are not emulated yet",
			Hint: "remove the property: without it Node.js, Python and PowerShell speak JSON",
		}}
	case protocolOf(a) == durable.Protobuf && !served[runtimeOf(a)]:
		return []*schemas.Fault{{
			Path: b.PathOf("type"), Found: schemas.Quote(b.Type), Reason: "Durable Functions are not emulated for " + languageOf(a),
			Hint: "they are for Node.js, Python, PowerShell, .NET in the isolated worker model and Java; the other functions of the app run",
		}}
	}
	return nil
}

// runtimeOf is the worker runtime of an app, "" for handlers in the host's own process.
func runtimeOf(a *app.App) string {
	switch a.Handler.Kind {
	case app.Custom:
		return "custom"
	case app.GoSource, app.Executable:
		return "go"
	case app.Language:
		return a.Handler.Runtime
	}
	return ""
}

// speaksJSON are the runtimes of protocol A; "" stands for handlers in the host's own process.
var speaksJSON = map[string]bool{"": true, "node": true, "python": true, "powershell": true} // read only

// served are the runtimes of protocol B whose packages are known here.
var served = map[string]bool{"dotnet-isolated": true, "java": true} // read only

// languageOf names what an app is written in, for errors.
func languageOf(a *app.App) string {
	switch runtimeOf(a) {
	case "custom":
		return "custom handlers, for which the platform has no package either"
	case "go":
		return "handlers in Go"
	}
	return runtimeOf(a)
}

func protocolOf(a *app.App) durable.Protocol {
	if speaksJSON[runtimeOf(a)] {
		return durable.JSON
	}
	return durable.Protobuf
}

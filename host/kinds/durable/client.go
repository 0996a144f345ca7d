package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// Client is the client of a task hub, and orchestrations to start.
func Client() kinds.Binding { return client(app.DurableClient) }

// OldClient is Client under the name that packages before 2.0 know.
func OldClient() kinds.Binding { return client(app.OrchestrationClient) }

func client(typ string) kinds.Binding {
	return kinds.Binding{
		BindingKind: app.BindingKind{
			Type: typ, Of: of, Directions: []string{"in", "out"}, Served: []string{"in", "out"},
			Validate: func(a *app.App, _ *app.Function, b *app.Binding) []*schemas.Fault { return refused(a, b) },
		},
		Input: newInput, Output: newOutput,
	}
}

// hubOf is the hub that a client means.
func hubOf(f *kinds.Function, b *app.Binding) durable.Hub {
	name := b.DurableProperty("taskHub")
	if name == "" {
		name = f.App().TaskHub()
	}
	return f.Embedded.Durable().Hub(name)
}

// input is what a client's package is given: the hub and its addresses (spec durable 8.5).
type input struct {
	f          *kinds.Function
	b          *app.Binding
	connection string
	rpc        bool
}

func newInput(f *kinds.Function, b *app.Binding) (kinds.Input, error) {
	c := f.App().Config.Durable
	rpc := runtimeOf(f.App()) != ""
	if c.LocalRPCExplicit {
		rpc = c.LocalRPCEndpoint
	}
	return &input{f, b, b.DurableProperty("connectionName"), rpc}, nil
}

// Read implements kinds.Input.
func (i *input) Read(context.Context, kinds.Attempt) (bindings.Value, error) {
	hub := hubOf(i.f, i.b)
	var given any
	var err error
	if protocolOf(i.f.App()) == durable.Protobuf {
		given, err = i.f.Env.Durable.ProtobufClient(hub, i.connection)
	} else {
		given, err = i.f.Env.Durable.Client(hub, i.connection, i.rpc)
	}
	if err != nil {
		return bindings.Value{}, err
	}
	text, err := json.Marshal(given)
	return bindings.StringValue(string(text)), err
}

// output starts orchestrations (spec durable 8.6).
type output struct {
	f   *kinds.Function
	hub durable.Hub
	own bool // the hub is the app's own, whose orchestrators are known
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	hub := hubOf(f, b)
	return &output{f, hub, strings.EqualFold(hub.Name(), f.App().TaskHub())}, nil
}

// start is one orchestration to start, as a function writes it; names compare without case.
type start struct {
	FunctionName, InstanceID string
	Input                    json.RawMessage
}

// Write implements kinds.Output. Nothing is started when one of several cannot be read or
// names no orchestrator.
func (o *output) Write(ctx context.Context, _ kinds.Attempt, v bindings.Value) error {
	list, err := startsOf(v)
	if err != nil {
		return err
	}
	if o.own {
		for _, s := range list {
			if err := o.known(s.FunctionName); err != nil {
				return err
			}
		}
	}
	var errs []error
	for _, s := range list {
		request := durable.Start{Name: s.FunctionName, ID: s.InstanceID, By: "binding"}
		if s.Input != nil {
			text := string(s.Input)
			request.Input = &text
		}
		if _, err := o.hub.Start(ctx, request); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// known refuses a name that no orchestrator of the app has that runs, with the platform's
// words (spec durable 5.8).
func (o *output) known(name string) error {
	var names []string
	for _, f := range o.f.Functions() {
		if one, ok := functionOf(f.Def); ok && one.Kind == durable.Orchestrator && !f.Def.Disabled {
			if strings.EqualFold(one.Name, name) {
				return nil
			}
			names = append(names, "'"+one.Name+"'")
		}
	}
	slices.Sort(names)
	info := "No orchestrator functions are currently registered!"
	if len(names) > 0 {
		info = "The following are the known orchestrator functions: " + strings.Join(names, ", ") + "."
	}
	return errors.New("The function '" + name + "' doesn't exist, is disabled, or is not an orchestrator function. Additional info: " + info)
}

// startsOf reads an object, an array of them, or the JSON text of either.
func startsOf(v bindings.Value) ([]start, error) {
	text := v.Text
	switch v.Kind {
	case bindings.JSON, bindings.String:
	case bindings.Bytes:
		text = string(v.Data)
	case bindings.Strings:
		var all []start
		for _, one := range v.List {
			list, err := startsOf(one)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	default:
		return nil, errors.New("an orchestration is started by a JSON object with FunctionName, InstanceId and Input")
	}
	var items []json.RawMessage
	if json.Unmarshal([]byte(text), &items) != nil {
		items = []json.RawMessage{json.RawMessage(text)}
	}
	list := make([]start, len(items))
	for i, item := range items {
		var inner string // an array of texts
		if json.Unmarshal(item, &inner) == nil {
			item = json.RawMessage(inner)
		}
		if err := json.Unmarshal(item, &list[i]); err != nil || list[i].FunctionName == "" {
			return nil, fmt.Errorf("an orchestration is started by a JSON object with FunctionName, InstanceId and Input: found %s", schemas.Quote(string(item)))
		}
	}
	return list, nil
}

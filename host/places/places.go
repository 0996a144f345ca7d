// Package places makes what an app describes and its functions name in the embedded
// services: entities of Service Bus and event hubs. In the cloud the user makes
// them; here they are there when the first function listens.
package places

import (
	"context"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	bus "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/kinds/servicebus"
	"github.com/redeliver/redeliver/schemas"
)

// An App is a loaded app and the functions of it that are to run.
type App struct {
	*app.App
	Functions []*kinds.Function

	// Refuse is told of a function whose places cannot be made.
	Refuse func(f *kinds.Function, err error)
}

// Rehearse makes the places in namespaces of no other use, so that an app is known to be
// possible before it changes the embedded ones. It returns the faults of the app's files,
// or what else is wrong.
func Rehearse(env *kinds.Env, a App) ([]*schemas.Fault, error) {
	if faults, err := entities(a.ServiceBusEntities.Check(env.Root, env.Embedded.ServiceBus())); err != nil || len(faults) > 0 {
		return faults, err
	}
	return into(env, a, bus.New(env.Clock, nil), broker.New(env.Clock, nil))
}

// Make makes the places.
func Make(env *kinds.Env, a App) ([]*schemas.Fault, error) {
	return into(env, a, env.Embedded.ServiceBus(), env.Embedded.EventHubs())
}

func into(env *kinds.Env, a App, queues *bus.Namespace, hubs *broker.Namespace) ([]*schemas.Fault, error) {
	if faults, err := entities(a.ServiceBusEntities.Apply(env.Root, queues)); err != nil || len(faults) > 0 {
		return faults, err
	}
	if err := eventhubs.Describe(env, a.App, hubs); err != nil {
		return nil, err
	}
	functions := slices.Clone(a.Functions)
	for _, name := range []func(*kinds.Function) error{
		func(f *kinds.Function) error { return servicebus.Name(f, queues) },
		func(f *kinds.Function) error { return eventhubs.Name(f, hubs) },
	} {
		functions = slices.DeleteFunc(functions, func(f *kinds.Function) bool {
			err := name(f)
			if err != nil {
				a.Refuse(f, err)
			}
			return err != nil
		})
	}
	return nil, nil
}

func entities(faults []*schemas.Fault, err error) ([]*schemas.Fault, error) {
	if err != nil {
		err = fmt.Errorf("service bus entities: %w", err)
	}
	return faults, err
}

// Again makes the places of an app that runs, after the state of the services was
// replaced.
func Again(env *kinds.Env, a App) error {
	if err := queuesAgain(env, a, env.Embedded.ServiceBus()); err != nil {
		return err
	}
	if err := eventhubs.Describe(env, a.App, env.Embedded.EventHubs()); err != nil {
		return err
	}
	for _, f := range a.Functions {
		if err := eventhubs.Name(f, env.Embedded.EventHubs()); err != nil {
			return fmt.Errorf("function %q: %w", f.Def.Name, err)
		}
	}
	return nil
}

// queuesAgain is Again for the entities of Service Bus.
func queuesAgain(env *kinds.Env, a App, ns *bus.Namespace) error {
	if a.App == nil {
		return nil
	}
	faults, err := entities(a.ServiceBusEntities.Apply(env.Root, ns))
	switch {
	case err != nil:
		return err
	case len(faults) > 0:
		return faults[0]
	}
	for _, f := range a.Functions {
		if err := servicebus.Name(f, ns); err != nil {
			return fmt.Errorf("function %q: %w", f.Def.Name, err)
		}
	}
	return nil
}

// Unserved makes the entities of a function that this host does not run:
// another host that runs it finds them. A name that cannot be made is that
// program's to meet.
func Unserved(f *kinds.Function) {
	for _, err := range []error{servicebus.Name(f, f.Embedded.ServiceBus()), eventhubs.Name(f, f.Embedded.EventHubs())} {
		if err != nil {
			f.Log.Warn().Err(err).Str("function", f.Def.Name).Msg("cannot make the entities that the function names")
		}
	}
}

// Configure gives the services the switches of the app that runs.
func Configure(env *kinds.Env, s hostjson.Switches) {
	servicebus.Configure(env.Embedded.ServiceBus(), s)
	env.Embedded.EventHubs().AutoCreate(s.AutoCreateEntities == "any")
	env.Embedded.PageTables(s.TablePages == "partition")
}

// Empty removes all messages, events, topics, documents and instances, but for the leases of running
// functions, whose positions go on. It leaves the places of the app that runs, and their
// listeners go on; a.App is nil when none does.
func Empty(env *kinds.Env, a App) error {
	empty := bus.New(env.Clock, &bus.Options{Seed: env.Seed})
	if err := queuesAgain(env, a, empty); err != nil {
		return err
	}
	snap, err := empty.Snapshot()
	if err != nil {
		return err
	}
	if err := env.Embedded.ServiceBus().Restore(snap); err != nil {
		return err
	}
	if err := env.Embedded.EventHubs().Clear(); err != nil {
		return err
	}
	if err := env.Embedded.Cosmos().Clear(context.Background(), cosmosdb.HoldsLeases(a.Functions)); err != nil {
		return err
	}
	if err := env.Embedded.Durable().Reset(); err != nil {
		return err
	}
	return env.Embedded.EventGrid().Reset()
}

package host

import (
	"slices"

	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/services"
)

// rehearse makes what the app describes and its functions name in namespaces of no
// other use, so that a generation is known to be possible before it changes the
// embedded ones: a function whose places cannot be made is in error. The error is a
// *LoadError.
func (g *generation) rehearse() error {
	h := g.host
	if err := entitiesError(g.app.ServiceBusEntities.Check(h.root, h.embedded.ServiceBus())); err != nil {
		return err
	}
	bus := servicebus.New(h.clk, &servicebus.Options{Taken: h.embedded.EventHubs().Has})
	hubs := eventhubs.New(h.clk, &eventhubs.Options{Taken: func(name string) bool {
		return !h.embedded.EventHubs().Has(name) && (services.HasEntity(bus, name) || h.embedded.IsEntity(name))
	}})
	return g.makePlaces(bus, hubs)
}

// makePlaces makes what the app describes and its functions name. A function whose
// places cannot be made is in error, and the others run.
func (g *generation) makePlaces(bus *servicebus.Namespace, hubs *eventhubs.Namespace) error {
	if err := g.host.applyEntities(g.app, bus); err != nil {
		return err
	}
	if err := g.describeHubs(hubs); err != nil {
		return &LoadError{Err: err}
	}
	all := len(g.functions)
	for _, name := range []func(*function) error{ // of two with one name the entity has it
		func(f *function) error { return f.nameEntities(bus) },
		func(f *function) error { return f.nameHubs(hubs) },
	} {
		g.functions = slices.DeleteFunc(g.functions, func(f *function) bool {
			err := name(f)
			if err != nil {
				f.def.Faults = append(f.def.Faults, faultOf(f.def, err))
			}
			return err != nil
		})
	}
	if len(g.functions) < all {
		g.router = g.routes()
	}
	return nil
}

// accept makes the generation fit to run: everything that can be known to be wrong with
// it is refused before anything is changed.
func (g *generation) accept(prev *generation) error {
	for _, step := range []func() error{
		g.rehearse,
		func() error { return g.makePlaces(g.host.embedded.ServiceBus(), g.host.embedded.EventHubs()) },
	} {
		if faults := g.broken(prev); len(faults) > 0 {
			return &LoadError{Faults: faults}
		}
		if err := step(); err != nil {
			return err
		}
	}
	if faults := g.broken(prev); len(faults) > 0 {
		return &LoadError{Faults: faults}
	}
	return nil
}

// discard ends the contexts of a generation that does not come to run.
func (g *generation) discard() {
	g.stop()
	g.kill()
}

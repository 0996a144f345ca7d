package host

import (
	"slices"

	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/places"
	"github.com/redeliver/redeliver/schemas"
)

type placesStep func(env *kinds.Env, a places.App) ([]*schemas.Fault, error)

// places are the app with its functions, whose places the services have to have.
func (g *generation) places() places.App { return places.App{App: g.app, Functions: g.Functions()} }

// rehearse looks whether the places of the app and its functions can be made. The error
// is a *LoadError.
func (g *generation) rehearse() error { return g.makePlaces(places.Rehearse) }

// makePlaces makes what the app describes and its functions name. A function whose
// places cannot be made is in error, and the others run. The error is a *LoadError.
func (g *generation) makePlaces(step placesStep) error {
	a := g.places()
	refused := map[*kinds.Function]bool{}
	a.Refuse = func(f *kinds.Function, err error) {
		refused[f] = true
		f.Def.Faults = append(f.Def.Faults, faultOf(f.Def, err))
	}
	faults, err := step(g.host.env, a)
	switch {
	case err != nil:
		return &LoadError{Err: err}
	case len(faults) > 0:
		return &LoadError{Faults: faults}
	}
	if len(refused) > 0 {
		g.functions = slices.DeleteFunc(g.functions, func(f *function) bool { return refused[&f.view] })
		g.router = g.routes()
	}
	return nil
}

// nameUnserved makes the places that functions name which this host does not run.
func (g *generation) nameUnserved() {
	for _, def := range g.app.Functions {
		if def.NotServed == "" || def.InError() {
			continue
		}
		places.Unserved(&kinds.Function{Env: g.host.env, Generation: g, Def: def})
	}
}

// accept makes the generation fit to run: everything that can be known to be wrong with
// it is refused before anything is changed.
func (g *generation) accept(prev *generation) error {
	for _, step := range []placesStep{places.Rehearse, places.Make} {
		if faults := g.broken(prev); len(faults) > 0 {
			return &LoadError{Faults: faults}
		}
		if err := g.makePlaces(step); err != nil {
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
	g.listeners.Stop(true)
	g.kill()
}

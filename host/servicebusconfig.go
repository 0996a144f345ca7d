package host

import (
	"fmt"
	"strings"
	"time"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
)

// applyEntities makes the embedded namespace have what the app's file of entities
// describes. It is done before functions listen, because a function makes what it
// names with default settings. The error is a *LoadError.
func (h *Host) applyEntities(a *app.App, to *servicebus.Namespace) error {
	if a == nil {
		return nil
	}
	return entitiesError(a.ServiceBusEntities.Apply(h.root, to))
}

func entitiesError(faults []*schemas.Fault, err error) error {
	switch {
	case err != nil:
		return &LoadError{Err: fmt.Errorf("service bus entities: %w", err)}
	case len(faults) > 0:
		return &LoadError{Faults: faults}
	}
	return nil
}

// describedSource is the entity that a function receives from, if it is an embedded
// one: only those are what the file of entities says.
func describedSource(a *app.App, f *app.Function) (servicebusapi.Path, bool) {
	source, err := serviceBusSource(f.Trigger)
	if err != nil {
		return source, false
	}
	conn, ok := serviceBusConnection(a, f.Trigger)
	return source, !ok || strings.EqualFold(services.Fields(conn)["usedevelopmentemulator"], "true")
}

// serviceBusLock is the lock duration of the entity, if it is described.
func serviceBusLock(a *app.App, f *app.Function) time.Duration {
	source, ok := describedSource(a, f)
	if !ok {
		return 0
	}
	d, ok := a.ServiceBusEntities.LockDuration(source)
	if !ok {
		return 0
	}
	return d
}

// validateSessions: a session entity is received from in sessions only, and another
// never. The service would refuse the listener (spec messaging 1.10).
func validateSessions(a *app.App, f *app.Function) []*schemas.Fault {
	source, ok := describedSource(a, f)
	if !ok || source.SubQueue != servicebusapi.MainQueue {
		return nil
	}
	wanted := isTrue(f.Trigger.Value("isSessionsEnabled"), false)
	required, ok := a.ServiceBusEntities.RequiresSession(source)
	if !ok || required == wanted {
		return nil
	}
	return []*schemas.Fault{{
		Path: f.Trigger.PathOf("isSessionsEnabled"), Found: fmt.Sprint(wanted), Allowed: fmt.Sprint(required),
		Reason: fmt.Sprintf("the entity %q is described with RequiresSession %t", source, required),
		Hint:   "let the function and the file of entities say the same",
	}}
}

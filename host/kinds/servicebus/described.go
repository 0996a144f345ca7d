package servicebus

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
)

// describedSource is the entity that a function receives from, if it is an embedded
// one: only those are what the file of entities says.
func describedSource(a *app.App, f *app.Function) (servicebus.Path, bool) {
	source, err := sourceOf(f.Trigger)
	if err != nil {
		return source, false
	}
	conn, ok := connectionOf(a, f.Trigger)
	return source, !ok || strings.EqualFold(services.Fields(conn)["usedevelopmentemulator"], "true")
}

// lock is the lock duration of the entity, or the service's default when it is not
// described.
func lock(a *app.App, f *app.Function) time.Duration {
	var described time.Duration
	if source, ok := describedSource(a, f); ok {
		described, _ = a.ServiceBusEntities.LockDuration(source)
	}
	return cmp.Or(described, servicebus.DefaultLockDuration)
}

// validateSessions: a session entity is received from in sessions only, and another
// never. The service would refuse the listener (spec messaging 1.10).
func validateSessions(a *app.App, f *app.Function) []*schemas.Fault {
	source, ok := describedSource(a, f)
	if !ok || source.SubQueue != servicebus.MainQueue {
		return nil
	}
	wanted := kinds.IsTrue(f.Trigger.Value("isSessionsEnabled"), false)
	required, ok := a.ServiceBusEntities.RequiresSession(source)
	if !ok || required == wanted {
		return nil
	}
	return []*schemas.Fault{{
		Path: f.Trigger.PathOf("isSessionsEnabled"), Found: fmt.Sprint(wanted), Allowed: fmt.Sprint(required),
		Reason: fmt.Sprintf("the entity %q is described with RequiresSession %t", source, required),
		Hint:   "make function and file of entities agree",
	}}
}

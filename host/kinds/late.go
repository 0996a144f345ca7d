package kinds

import (
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// IsLate reports whether the names of bindings are looked at when they are used, as by the
// platform for all of its languages outside .NET's own process. For handlers in Go a bad
// one is a fault of the app.
func IsLate(a *app.App) bool { return a.Handler.Kind == app.Language || a.Handler.Kind == app.Custom }

// Early is app.BindingKind.Validate of a kind whose faults of names matter when the app is
// loaded, unless they do late.
func Early(check func(b *app.Binding) []*schemas.Fault) func(*app.App, *app.Function, *app.Binding) []*schemas.Fault {
	return func(a *app.App, _ *app.Function, b *app.Binding) []*schemas.Fault {
		if IsLate(a) {
			return nil
		}
		return check(b)
	}
}

// Late is app.BindingKind.Warn of such a kind: it tells what comes of it.
func Late(check func(b *app.Binding) []*schemas.Fault) func(*app.App, *app.Function, *app.Binding) []*schemas.Fault {
	return func(a *app.App, _ *app.Function, b *app.Binding) []*schemas.Fault {
		if !IsLate(a) {
			return nil
		}
		faults := check(b)
		for _, f := range faults {
			f.Kind, f.Hint = "", "the function is loaded, and each call that uses the binding fails, as on the platform"
		}
		return faults
	}
}

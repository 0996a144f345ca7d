package launch

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
)

// slowLoad is how long code may take to load before that is said.
const slowLoad = 5 * time.Second

// SaySlow says that the code of an app takes long to load, unless end is called before: it
// may never come to an end. What has to be compiled takes its time. After is a timer of the
// real world, see [After].
func SaySlow(a *app.App, log zerolog.Logger, after func(time.Duration, func()) (stop func() bool)) (end func() bool) {
	if !MayHang(a) {
		return func() bool { return true }
	}
	return after(slowLoad, func() {
		log.Warn().Str("hint", "code outside of functions that does not come to an end holds a load up; the next edit gives it up").
			Msgf("the app has been loading for %v", slowLoad)
	})
}

// MayHang reports whether the code of an app runs while it loads, without a build before,
// which takes its time and ends.
func MayHang(a *app.App) bool { return a.Handler.Kind == app.Language && a.Handler.Leaves == nil }

// After is [time.AfterFunc].
func After(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop //clock:outside a worker that starts
}

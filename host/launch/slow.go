package launch

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
)

// slowLoad is how long code may take to load before that is said.
const slowLoad = 5 * time.Second

// SaySlow says that the code of an app takes long to load, unless end is called before: it
// may never come to an end. What has to be compiled takes its time.
func SaySlow(a *app.App, log zerolog.Logger) (end func() bool) {
	if a.Handler.Kind != app.Language || a.Handler.Leaves != nil {
		return func() bool { return true }
	}
	return time.AfterFunc(slowLoad, func() { //clock:outside a worker that starts
		log.Warn().Str("hint", "code outside of functions that does not come to an end holds a load up; the next edit gives it up").
			Msgf("the app has been loading for %v", slowLoad)
	}).Stop
}

package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/host/app"
)

// remember keeps what later loads and the watcher need of the app that was read
// last, good or not. Settings are read once per process, as on the platform.
func (l *loader) remember(a *app.App, opts *app.Options) {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	l.settings, l.last, l.asked = a.Settings, a, *opts
}

// lastRead is the app that was read last, or nil.
func (l *loader) lastRead() *app.App {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	return l.last
}

// differs reports whether the app on disk is another than the one that was read last. A
// load may be at work.
func (l *loader) differs(ctx context.Context) bool {
	l.host.mu.Lock()
	last, opts := l.last, l.asked
	l.host.mu.Unlock()
	if last == nil || offline(l.host.dir) != "" {
		return true
	}
	differs := true
	l.host.clk.Inside("look at the app", func() {
		opts.Settings = last.Settings
		opts.Sources = func(string) string { return l.host.handlers.readSources(ctx) }
		a, err := app.Load(l.host.dir, &opts)
		differs = err != nil || a.Fingerprint != last.Fingerprint
	})
	return differs
}

// slowLoad is how long code may take to load before that is said.
const slowLoad = 5 * time.Second

// saySlow says that the code of an app takes long to load: it may never come to an end.
// What has to be compiled takes its time.
func (l *loader) saySlow(a *app.App) (end func() bool) {
	if a.Handler.Kind != app.Language || a.Handler.Leaves != nil {
		return func() bool { return true }
	}
	return time.AfterFunc(slowLoad, func() { //clock:outside a worker that starts
		l.host.log.Warn().Str("hint", "code outside of functions that does not come to an end holds a load up; the next edit gives it up").
			Msgf("the app has been loading for %v", slowLoad)
	}).Stop
}

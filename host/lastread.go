package host

import (
	"context"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/watch"
)

// remember keeps what later loads and the watcher need of the app that was read
// last, good or not. Settings are read once per process, as on the platform.
func (l *loader) remember(a *app.App, opts *app.Options) {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	l.settings, l.last, l.asked = a.Settings, a, *opts
	l.host.starter.way.HasRead()
	l.asked.Handler = nil // it is looked for anew
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
	if last == nil || watch.Offline(l.host.dir) != "" {
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

package launch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/launch"
)

// Code of a language that is still loading after 5 s is told of; what has to be compiled,
// and other programs, are not.
func TestSaySlow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		handler app.HandlerSpec
		says    bool
	}{
		"language": {app.HandlerSpec{Kind: app.Language}, true},
		"compiled": {app.HandlerSpec{Kind: app.Language, Leaves: func(string) bool { return false }}, false},
		"custom":   {app.HandlerSpec{Kind: app.Custom}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			var waits time.Duration
			say, ended := func() {}, false
			end := launch.SaySlow(&app.App{Handler: tt.handler}, zerolog.New(&log), func(d time.Duration, f func()) func() bool {
				waits, say = d, f
				return func() bool { ended = true; return true }
			})
			say()
			if says := strings.Contains(log.String(), "the app has been loading for 5s") && strings.Contains(log.String(), "the next edit gives it up"); says != tt.says {
				t.Errorf("says %q", log.String())
			}
			end()
			if tt.says && (waits != 5*time.Second || !ended) {
				t.Errorf("it waits for %v; ended: %v", waits, ended)
			}
		})
	}
}

package run

import (
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
)

// The variable of the platform's tool is its flag, which goes before it, and host.json's own
// level for functions before both.
func TestUserLogLevel(t *testing.T) {
	t.Setenv("FUNCTIONS_USER_LOG_LEVEL", "Error")
	category := hostjson.HandlerCategory("Orders")
	for _, tt := range []struct {
		flag, own, least string
	}{
		{"", "", "Error"},
		{"Trace", "", "Trace"},
		{"Trace", "Warning", "Warning"},
	} {
		a := &app.App{}
		if tt.own != "" {
			a.Config.LogLevels = hostjson.LogLevels{"Function": tt.own}
		}
		s := &session{common: &common{flags: &startFlags{userLogLevel: tt.flag}}}
		shown := false
		words := hostjson.LogLevelWords()
		for _, level := range words[:len(words)-1] {
			shown = shown || level == tt.least
			if got := s.levelsOf(a).Show(category, level); got != shown {
				t.Errorf("flag %q, host.json %q: %s is shown: %v, want %v", tt.flag, tt.own, level, got, shown)
			}
		}
	}
}

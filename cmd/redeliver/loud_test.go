package main

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// The variable of the platform's tool is its flag, which goes before it, and host.json's own
// level for functions before both.
func TestUserLogLevel(t *testing.T) {
	t.Setenv("FUNCTIONS_USER_LOG_LEVEL", "Error")
	category := app.HandlerCategory("Orders")
	for _, tt := range []struct {
		flag, own, least string
	}{
		{"", "", "Error"},
		{"Trace", "", "Trace"},
		{"Trace", "Warning", "Warning"},
	} {
		a := &app.App{}
		if tt.own != "" {
			a.Config.LogLevels = app.LogLevels{"Function": tt.own}
		}
		s := &session{common: &common{flags: &startFlags{userLogLevel: tt.flag}}}
		shown := false
		words := app.LogLevelWords()
		for _, level := range words[:len(words)-1] {
			shown = shown || level == tt.least
			if got := s.levelsOf(a).Show(category, level); got != shown {
				t.Errorf("flag %q, host.json %q: %s is shown: %v, want %v", tt.flag, tt.own, level, got, shown)
			}
		}
	}
}

// Nothing is hidden without a word: lines of functions, what they write, and their program.
func TestHushed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		levels    app.LogLevels
		functions string
		want      string // of what lines are hidden
	}{
		{nil, "Orders", ""},
		{app.LogLevels{"default": "Trace"}, "Orders", ""},
		{app.LogLevels{"Function.Orders": "Error"}, "Orders Bills", "1 function"},
		{app.LogLevels{"Function": "Warning"}, "Orders Bills", "2 functions"},
		{app.LogLevels{"Function.Orders.User": "None"}, "Orders", "1 function"},
		{app.LogLevels{"Host": "Error"}, "Orders", "the functions' program"},
		{app.LogLevels{"Host.Function.Console": "None"}, "Orders", "the functions' program"},
		{app.LogLevels{"default": "Warning"}, "Orders", "1 function and of the functions' program"},
		{app.LogLevels{"default": "Warning"}, "", ""},
	} {
		want := ""
		if tt.want != "" {
			want = "logging.logLevel hides lines of " + tt.want + "; --verbose shows all"
		}
		if got := hushed(tt.levels, strings.Fields(tt.functions)); got != want {
			t.Errorf("of %v and %q: %q, want %q", tt.levels, tt.functions, got, want)
		}
	}
}

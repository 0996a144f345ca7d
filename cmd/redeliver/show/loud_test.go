package show

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app/hostjson"
)

// Nothing is hidden without a word: lines of functions, what they write, and their program.
func TestHushed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		levels    hostjson.LogLevels
		functions string
		want      string // of what lines are hidden
	}{
		{nil, "Orders", ""},
		{hostjson.LogLevels{"default": "Trace"}, "Orders", ""},
		{hostjson.LogLevels{"Function.Orders": "Error"}, "Orders Bills", "1 function"},
		{hostjson.LogLevels{"Function": "Warning"}, "Orders Bills", "2 functions"},
		{hostjson.LogLevels{"Function.Orders.User": "None"}, "Orders", "1 function"},
		{hostjson.LogLevels{"Host": "Error"}, "Orders", "the functions' program"},
		{hostjson.LogLevels{"Host.Function.Console": "None"}, "Orders", "the functions' program"},
		{hostjson.LogLevels{"default": "Warning"}, "Orders", "1 function and of the functions' program"},
		{hostjson.LogLevels{"default": "Warning"}, "", ""},
	} {
		want := ""
		if tt.want != "" {
			want = "logging.logLevel hides lines of " + tt.want + "; --verbose shows all"
		}
		if got := Hushed(tt.levels, strings.Fields(tt.functions)); got != want {
			t.Errorf("of %v and %q: %q, want %q", tt.levels, tt.functions, got, want)
		}
	}
}

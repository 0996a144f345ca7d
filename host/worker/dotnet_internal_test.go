package worker

import (
	"testing"

	"github.com/redeliver/redeliver/functions/call"
)

// The line that a worker of .NET logs before it answers tells the exceptions inside; the
// answer has the outermost alone (worker 2.52: FunctionsApplication.cs, RpcExtensions.cs).
func TestInWords(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]struct {
		e      call.Error
		thrown string
	}{
		"App.Own: outer ---> System.InvalidOperationException: middle ---> System.ArgumentException: innermost": {
			call.Error{Type: "App.Own", Message: "outer"},
			"App.Own: outer\n ---> System.InvalidOperationException: middle\n ---> System.ArgumentException: innermost\n   --- End of inner exception stack trace ---\n   at App.F() in /app/F.cs:line 1",
		},
		"System.AggregateException: many (one) (two) ---> System.E: one ---> (Inner Exception #1) System.ArgumentException: two": {
			call.Error{Type: "System.AggregateException", Message: "many (one) (two)"},
			"System.AggregateException: many (one) (two)\n ---> System.E: one\n   at App.F()\n ---> (Inner Exception #1) System.ArgumentException: two<---\n",
		},
		"App.Own":      {call.Error{Type: "App.Own", Message: noMessage("App.Own")}, "App.Own\n   at App.F()"},
		"App.Own: two": {call.Error{Type: "App.Own", Message: "two"}, ""},
		"":             {call.Error{Message: "System.E: whole text"}, "System.E: whole text"},
	} {
		if got := inWords(&in.e, in.thrown); got != want {
			t.Errorf("%+v: got %q, want %q", in.e, got, want)
		}
	}
}

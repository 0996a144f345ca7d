package show

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/journal"
)

// A stack is shown by the places in the app's code, in every language.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stack, message, want string }{
		"none": {"", "no good", ""},
		"JavaScript": {
			"TypeError: no good\n    at boom (/app/src/a.js:2:26)\n    at handler (/app/src/a.js:4:31)\n" +
				"    at InvocationModel.<anonymous> (/app/node_modules/@azure/functions/dist/azure-functions.js:220:46)\n" +
				"    at Generator.next (<anonymous>)\n    at node-0 (/tmp/redeliver-0/workers/node-0123456789abcdef/load.js:1:1)\n    at App.invoke (/home/me/.cache/redeliver/workers/node-0123456789abcdef/app.js:238:20)\n    at node:events:1:1",
			"no good", "    at boom (/app/src/a.js:2:26)\n    at handler (/app/src/a.js:4:31)",
		},
		"JavaScript on Windows": {
			"Error: no good\r\n    at handler (C:\\app\\a.js:4:31)\r\n    at App.invoke (C:\\Users\\me\\AppData\\Local\\redeliver\\workers\\node-0123456789abcdef\\app.js:238:20)\r\n",
			"no good", "    at handler (C:\\app\\a.js:4:31)",
		},
		".NET": {
			"   at Shop.Orders.Charge(String id) in /app/Orders.cs:line 7\n   at Shop.Orders.Run(String id) in /app/Orders.cs:line 12\n" +
				"   at Shop.DirectFunctionExecutor.ExecuteAsync(FunctionContext context) in /app/obj/GeneratedFunctionExecutor.g.cs:line 105\n" +
				"--- End of stack trace from previous location ---\n   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)\n" +
				"   at Microsoft.Azure.Functions.Worker.FunctionsApplication.InvokeFunctionAsync(FunctionContext context) in /_/src/DotNetWorker.Core/FunctionsApplication.cs:line 83",
			"no good", "   at Shop.Orders.Charge(String id) in /app/Orders.cs:line 7\n   at Shop.Orders.Run(String id) in /app/Orders.cs:line 12",
		},
		"syntax":  {"/app/a.js:3\nconst x = (;\n           ^\n\nSyntaxError: Unexpected token\n    at wrapSafe (node:internal/x:1:2)", "Unexpected token", "/app/a.js:3\nconst x = (;\n           ^"},
		"Python":  {"  File \"/app/orders.py\", line 12, in hi\n    return 1/0\n           ~^~\n", "ZeroDivisionError: division by zero", "  File \"/app/orders.py\", line 12, in hi\n    return 1/0\n           ~^~"},
		"message": {"no good", "no good", ""},
		"Go": {
			"goroutine 1 [running]:\nruntime/debug.Stack()\n\t/go/stack.go:26 +0x5e\npanic({0x4ae580?, 0x57e2a0?})\n\t/go/panic.go:860 +0x13a\n" +
				"runtime.panicmem(...)\n\t/go/panic.go:262\nmain.boom(...)\n\t/app/main.go:3\nmain.(*shop).order({0x1, 0x2})\n\t/app/main.go:4 +0x4f\n" +
				"github.com/redeliver/redeliver/functions.(*App).call()\n\t/redeliver/call.go:5 +0x1f\n",
			"assignment to entry in nil map", "    at main.boom (/app/main.go:3)\n    at main.(*shop).order (/app/main.go:4)",
		},
		"long": {strings.Repeat("    at f (/app/a.js:1:1)\n", 50), "x", strings.TrimSuffix(strings.Repeat("    at f (/app/a.js:1:1)\n", mostPlaces), "\n")},
	} {
		if diff := cmp.Diff(tt.want, strings.Join(placesOf(tt.stack, tt.message), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The places stand below the attempt, once for each function that fails there.
func TestPrintStack(t *testing.T) {
	t.Parallel()
	out := cli.NewConsole(cli.Streams{Out: io.Discard, Err: io.Discard}, true)
	p := New(Of{Out: out})
	rec := journal.Record{
		Time: time.Date(2030, 1, 1, 12, 0, 0, 0, time.Local), Kind: journal.AttemptEnded, Function: "A", Attempt: 1, Status: "failed",
		Error: `function "A": no good`, Beside: journal.Beside{Stack: "Error: no good\n    at f (/app/a.js:1:1)\n    at g (/app/\x1b[2Ja.js:2:1)"},
	}
	const places = "\n                  at f (/app/a.js:1:1)\n                  at g (/app/\\x1b[2Ja.js:2:1)"
	for i, tt := range []struct {
		function string
		shown    bool
	}{{"A", true}, {"A", false}, {"B", true}, {"A", false}} {
		rec.Function = tt.function
		if got := p.line(&rec); strings.HasSuffix(got, places) != tt.shown || strings.Contains(got, "\n") != tt.shown {
			t.Errorf("attempt %d: %q, want the places: %v", i, got, tt.shown)
		}
	}
}

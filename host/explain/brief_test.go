package explain_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/explain"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`function "Orders": *errors.errorString: payment service unavailable`:                                 "payment service unavailable",
		`function "Orders": *fmt.wrapError: not an order: X ---> *fmt.wrapError: X ---> *json.SyntaxError: X`: "not an order: X",
		`function "Orders": main.Refused: no ---> syscall.Errno: connection refused`:                          "no",
		`function "Orders": syscall.Errno: connection refused`:                                                "connection refused",
		`function "Orders": *main.Failure[int]: no`:                                                           "no",
		`function "Orders" panicked: runtime.boundsError: runtime error: index out of range`:                  "panicked: runtime error: index out of range",
		`function "Orders" panicked: boom`:                                                                    "panicked: boom",
		`function "Orders": input "x": host.json: no such thing`:                                              `input "x": host.json: no such thing`,
		`function "Orders": host.json: no such thing`:                                                         "host.json: no such thing",
		`timeout value of 00:00:01 was exceeded by function "Orders"`:                                         `timeout value of 00:00:01 was exceeded by function "Orders"`,
		"": "",
	} {
		if got := explain.Brief(text); got != want {
			t.Errorf("Brief(%q) = %q, want %q", text, got, want)
		}
	}
}

// A failure of .NET is told with its type and the exceptions inside, as its message has
// neither.
func TestInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`System.InvalidOperationException: outer failed ---> System.IO.IOException: disk`: `System.InvalidOperationException: outer failed ---> System.IO.IOException: disk`,
		`Shop.NoSuchOrder`:                 `Shop.NoSuchOrder`,
		`Shop.Orders+Refused: no`:          `Shop.Orders+Refused: no`,
		`builtins.ValueError: no`:          `no`,
		`Failed to read Orders.cs: gone`:   `Failed to read Orders.cs: gone`,
		`function "Orders" panicked: boom`: "panicked: boom",
		`function "Orders": *fmt.wrapError: not an order: X ---> *fmt.wrapError: X ---> *json.SyntaxError: X`: "not an order: X",
	} {
		if got := explain.InWords(text); got != want {
			t.Errorf("InWords(%q) = %q, want %q", text, got, want)
		}
	}
}

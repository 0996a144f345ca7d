package verbs

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/run"
)

// Invoke runs a function.
var Invoke = Verb[run.Invoke, run.InvokeResult]{ // read only
	Use: "invoke FUNCTION [BODY|-]", Short: "Run a function of the running host by hand",
	Long: `Invoke runs a function once, as the admin API does, and waits for the result.
BODY takes the place of the trigger's data (a queue message's text, a request's
body; a timer ignores it); "-" reads it from the standard input. The retry
policy applies. No queue counts a delivery, and no message becomes poison.
Disabled functions run too. In a run of several apps FUNCTION may be
app/function, and has to be where two have one of that name.

The answer of an HTTP function goes to the standard output. The exit code is 1
when the last attempt failed.`,
	Example: `  redeliver invoke ProcessOrder '{"id":"7"}'`,
	Names:   FunctionNames,
	Check: func(in *run.Invoke) error {
		for part := range strings.SplitSeq(in.Name, "/") { // "app/function"
			if err := remote.Segment(part, func(string) error { return functionName(in.Name) }); err != nil {
				return err
			}
		}
		return nil
	},
	Show: showResult,
}

// functionName checks the name of a function.
func functionName(name string) error {
	return fmt.Errorf("function %q: want a letter, then letters, digits, _ and -; 128 characters in all", name)
}

// showResult writes what came of a function; a failure is an error.
func showResult(out *cli.Console, in *run.Invoke, res *run.InvokeResult) error {
	function := in.Name
	if !res.Succeeded {
		return fmt.Errorf("%s failed after %s: %s", function, cli.Plural(res.Attempts, "attempt"), explain.InWords(res.Error))
	}
	if r := res.Response; r != nil {
		out.Data(r.Body)
		if n := len(r.Body); n > 0 && r.Body[n-1] != '\n' {
			out.Print("\n")
		}
		out.Say("info", fmt.Sprintf("%s answered %d after %s", function, r.StatusCode, cli.Plural(res.Attempts, "attempt")))
		return nil
	}
	out.Printf("%s succeeded after %s\n", function, cli.Plural(res.Attempts, "attempt"))
	return nil
}

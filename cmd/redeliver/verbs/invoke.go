package verbs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops/run"
)

// Invoke is "redeliver invoke".
func Invoke(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "invoke FUNCTION [BODY|-]",
		Short: "Run a function of the running host by hand",
		Long: `Invoke runs a function once, as the admin API does, and waits for the result.
BODY takes the place of the trigger's data (a queue message's text, a request's
body; a timer ignores it); "-" reads it from the standard input. The retry
policy applies. No queue counts a delivery, and no message becomes poison.
Disabled functions run too. In a run of several apps FUNCTION may be
app/function, and has to be where two have one of that name.

The answer of an HTTP function goes to the standard output. The exit code is 1
when the last attempt failed.`,
		Example:           `  redeliver invoke ProcessOrder '{"id":"7"}'`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, FunctionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := remote.Body(std, args[1:])
			if err != nil {
				return err
			}
			for part := range strings.SplitSeq(args[0], "/") { // "app/function"
				if err := remote.Segment(part, func(string) error { return functionName(args[0]) }); err != nil {
					return err
				}
			}
			c, err := r.Find()
			if err != nil {
				return err
			}
			res, err := remote.Call(cmd.Context(), c, run.Invoke{Name: args[0], Input: in})
			if err != nil {
				return err
			}
			if r.AsJSON {
				if err := cli.WriteIndented(std, res); err != nil || res.Succeeded {
					return err
				}
				return cli.ExitCode(cli.ExitFailure)
			}
			return ShowResult(cli.NewConsole(std, true), args[0], &res)
		},
	})
}

// functionName checks the name of a function.
func functionName(name string) error {
	return fmt.Errorf("function %q: want a letter, then letters, digits, _ and -; 128 characters in all", name)
}

// ShowResult writes what came of a function; a failure is an error.
func ShowResult(out *cli.Console, function string, res *run.InvokeResult) error {
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

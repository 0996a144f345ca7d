package verbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops/run"
)

// PeekOutput shows values of recorded outputs.
var PeekOutput = Verb[run.PeekOutputs, run.PeekedOutputs]{ // read only
	Use: "output FUNCTION[/BINDING]", Short: "Show the values that a function has set on recorded outputs",
	Long: `Redeliver records the values of outputs that it does not serve, such as
sendGrid, sql or table, and sends them nowhere. Peek shows the latest values of
a function of the running host, oldest first. FUNCTION shows all its outputs,
FUNCTION/BINDING one of them.

The host keeps the latest 1,000 values in memory, over a reload too; "state
reset" forgets them. "ls outputs" lists the outputs, "fail output" makes them
fail.`,
	Example: `  redeliver peek output Notify
  redeliver peek output Notify/mail --json`,
	Names: outputNames, Text: peekedOutputs,
}

func peekedOutputs(_ *run.PeekOutputs, found *run.PeekedOutputs) string {
	var b strings.Builder
	cli.Writef(&b, "output %q: %s", found.Name, cli.Plural(found.Count, "value"))
	if hidden := found.Count - len(found.Outputs); hidden > 0 {
		cli.Writef(&b, ", %d older not shown", hidden)
	}
	b.WriteByte('\n')
	for i := range found.Outputs {
		o := &found.Outputs[i]
		cli.Writef(&b, "%s/%s  %s  %s attempt %d  %s\n", o.Function, o.Binding, o.Type, o.Delivery, o.Attempt, o.Time.Local().Format(time.DateTime))
		shown := len(o.Binary)
		if o.Body != nil {
			shown = len(*o.Body)
			cli.Writef(&b, "  %s\n", cli.Block(*o.Body, "  "))
		} else {
			cli.Writef(&b, "  %d bytes that are not text; --json has them\n", o.Size)
		}
		if shown < o.Size {
			cli.Writef(&b, "  (the first %d of %d bytes)\n", shown, o.Size)
		}
	}
	return b.String()
}

// FailOutput makes writes of outputs fail.
var FailOutput = Verb[run.FailOutputs, run.Outputs]{ // read only
	Use: "output FUNCTION[/BINDING]", Short: "Make the next writes of a function's outputs fail",
	Long: `Fail makes the next write of an output of the running host fail, as if its
service had refused it: the attempt fails, and is retried by its policy.
FUNCTION means all outputs of the function but its HTTP answer, FUNCTION/BINDING
one of them. Outputs of any type can fail, recorded ones too.

--times is the number of writes that fail: -1 for all, 0 to end it. It holds
over a reload and ends with "state reset". "ls outputs" shows how many are left.`,
	Example: `  redeliver fail output Notify/mail --times 2
  redeliver fail output Notify --times 0`,
	Names: outputNames, Text: failingOutputs,
}

func failingOutputs(in *run.FailOutputs, _ *run.Outputs) string {
	what := "the next write of"
	switch {
	case in.Times < 0:
		what = "all writes of"
	case in.Times == 0:
		return fmt.Sprintf("writes of %q succeed again\n", in.Name)
	case in.Times > 1:
		what = fmt.Sprintf("the next %d writes of", in.Times)
	}
	return fmt.Sprintf("%s %q will fail\n", what, in.Name)
}

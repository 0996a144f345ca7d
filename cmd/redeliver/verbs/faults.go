package verbs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// faultWords are the fields of every fault.
var faultWords = []string{"Times", "For", "Error"} // read only

// FailHandler loses the handler of an attempt.
var FailHandler = Verb[run.AddFault, run.Faults]{ // read only
	In:  run.AddFault{Service: faults.Handler, Operation: "Invoke"},
	Use: "handler FUNCTION", Short: "Lose the handler of the next attempt of a function",
	Long: `Fail loses the handler of the next attempt, as when its process ends: before it
has begun, or with --after when it has done its work. The attempt fails.`,
	Example: "  redeliver fail handler ProcessOrder --after --times 2",
	Args:    []string{"Entity"}, Only: append([]string{"After"}, faultWords...), Words: []Word{{Field: "After", Usage: "lose it when it has done its work"}},
	Names: FunctionNames, Text: waitingFaults,
}

// FailDisk makes operations fail that write.
var FailDisk = Verb[run.AddFault, run.Faults]{ // read only
	In:  run.AddFault{DiskFull: true},
	Use: "disk", Short: "Make each operation fail that writes, as on a full disk",
	Example: "  redeliver fail disk --for 5m",
	Only:    faultWords, Text: waitingFaults,
}

// FailHost kills the host at a point of a delivery.
var FailHost = Verb[run.CrashAt, ops.None]{ // read only
	Use: "host FUNCTION POINT", Short: "Kill the host at a point of a delivery of a function",
	Long: `Fail kills the process of the host, as kill -9 does, when a delivery of the
function reaches a point: nothing is settled then and nothing is cleaned up.
The next "redeliver start" goes on with the data: what was not settled comes
again when its lock or lease has ended, and its retries count from 0. The
points, in their order:

  ` + strings.Join(Points(), "\n  "),
	Example: `  redeliver fail host ProcessOrder betweenAttempts --nth 2
  redeliver send queue orders '{"id":"7","fail":true}'`,
	Complete: func(t *remote.Target, _ *run.CrashAt) remote.Completion {
		return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return Points(), remote.NoMore
			}
			return remote.CompleteFirst(t, remote.NoMore, FunctionNames)(cmd, args, start)
		}
	},
	Text: func(in *run.CrashAt, _ *ops.None) string {
		return fmt.Sprintf("the host will be killed at point %s of a delivery of %q\n", in.Point, in.Function)
	},
}

// Points are the points at which the host can be killed, in their order.
func Points() []string {
	points := make([]string, len(faults.Points()))
	for i, p := range faults.Points() {
		points[i] = string(p)
	}
	return points
}

// FailNothing ends all faults.
var FailNothing = Verb[run.ClearFaults, run.Faults]{ // read only
	Use: "nothing", Short: "End all faults of operations, handlers and the disk",
	Text: func(_ *run.ClearFaults, out *run.Faults) string {
		return fmt.Sprintf("%s ended\n", cli.Plural(len(out.Faults), "fault"))
	},
}

func waitingFaults(_ *run.AddFault, out *run.Faults) string { return FaultLines(out.Faults) }

// FaultLines are the faults that wait, a line each.
func FaultLines(list []run.Fault) string {
	var b strings.Builder
	for _, f := range list {
		what := f.Operation
		if f.DiskFull {
			what = "each operation that writes"
		} else if what == "" || what == "*" {
			what = "each operation"
		}
		for _, part := range []string{f.Service, f.Entity} {
			if part != "" {
				what += " " + part
			}
		}
		how := "fails before its effect"
		switch {
		case f.Lost:
			how = "is lost"
		case f.After:
			how = "fails behind its effect"
		case f.Status != 0:
			how = cli.Textf("is answered with %d", f.Status)
		case f.Latency != "" && f.Error == "":
			how = "takes " + f.Latency
		}
		if f.Left > 0 {
			how += ", " + cli.Plural(f.Left, "time")
		}
		if f.Until != nil {
			how += ", until " + f.Until.Format("15:04:05")
		}
		cli.Writef(&b, "%s: %s\n", what, how)
	}
	return b.String()
}

// FailOperation makes operations of the services of a table fail.
func FailOperation(services faults.Services) Verb[run.AddFault, run.Faults] {
	return Verb[run.AddFault, run.Faults]{
		Use: "operation NAME", Short: "Make operations of an embedded service fail",
		Long: `Fail makes the next operation of that name fail: Put, Receive, Delete and Update
of queues, Complete, Abandon, DeadLetter and Renew of Service Bus, and so on; a
name that the service does not have is refused with the ones that it has. An
asterisk with --service means each operation of that service, as when its
connection is cut. It fails before its effect, or with --after behind it, so
that nobody learns of the effect. With --lost it has no effect and succeeds: a
settlement that gets lost brings its message again. --latency takes time, and
fails nothing by itself.

Commands and clients meet the fault too. "fail nothing" ends all faults; they
end with the host.`,
		Example: `  redeliver fail operation Complete --service servicebus --entity orders --lost
  redeliver fail operation '*' --service queue --for 2m
  redeliver fail operation Deliver --service eventgrid --status 413
  redeliver fail operation Receive --service blob --latency 30s`,
		Args:  []string{"Operation"},
		Only:  append([]string{"Service", "Entity", "After", "Lost", "Latency", "Status"}, faultWords...),
		Words: []Word{{Field: "Service", Usage: strings.Join(services.Names(), ", ") + "; default each that has the operation"}},
		Complete: func(_ *remote.Target, in *run.AddFault) remote.Completion {
			return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, remote.NoMore
				}
				return services.Operations(in.Service), remote.NoMore
			}
		},
		Text: waitingFaults,
	}
}

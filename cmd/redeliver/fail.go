package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/run"
)

func newFail(std cli.Streams) *cobra.Command {
	return cli.Group("fail output NAME", "Make something of the running host fail",
		newFailOutput(std), newFailOperation(std), newFailHandler(std), newFailDisk(std), newFailHost(std), newFailNothing(std))
}

// faultFlags are those of every fault.
func faultFlags(cmd *cobra.Command, in *run.AddFault) *cobra.Command {
	f := cmd.Flags()
	f.IntVar(&in.Times, "times", 0, "number of operations that fail; default one, or with --for all of that time")
	f.DurationVar(&in.For, "for", 0, "how long it lasts, by the clock of the host")
	f.StringVar(&in.Error, "error", "", "the text of the failure")
	return cmd
}

// inject adds a fault and says what waits.
func inject(cmd *cobra.Command, r *remote.Remote, in *run.AddFault) error {
	return remote.Tell(cmd, r, *in, waitingFaults)
}

func waitingFaults(out *run.Faults) string { return faultLines(out.Faults) }

func newFailOperation(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	in := &run.AddFault{}
	cmd := faultFlags(r.Destroys(&cobra.Command{
		Use:   "operation NAME",
		Short: "Make operations of an embedded service fail",
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
		Args: cli.Arguments(1, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, remote.NoMore
			}
			return all.Table().Faults().Operations(in.Service), remote.NoMore
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Operation = args[0]
			return inject(cmd, r, in)
		},
	}), in)
	f := cmd.Flags()
	f.StringVar(&in.Service, "service", "", strings.Join(all.Table().Faults().Names(), ", ")+"; default each that has the operation")
	f.StringVar(&in.Entity, "entity", "", "the only queue, container, entity, hub, database/container or topic/subscription")
	f.BoolVar(&in.After, "after", false, "fail behind the effect")
	f.BoolVar(&in.Lost, "lost", false, "succeed without an effect")
	f.DurationVar(&in.Latency, "latency", 0, "how long the operation takes, by the clock of the host")
	f.IntVar(&in.Status, "status", 0, "answer of an endpoint of Event Grid, for the operation Deliver")
	return cmd
}

func newFailHandler(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	in := &run.AddFault{Service: faults.Handler, Operation: "Invoke"}
	cmd := faultFlags(r.Destroys(&cobra.Command{
		Use:   "handler FUNCTION",
		Short: "Lose the handler of the next attempt of a function",
		Long: `Fail loses the handler of the next attempt, as when its process ends: before it
has begun, or with --after when it has done its work. The attempt fails.`,
		Example:           "  redeliver fail handler ProcessOrder --after --times 2",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: remote.CompleteFirst(&r.Target, remote.NoMore, functionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Entity = args[0]
			return inject(cmd, r, in)
		},
	}), in)
	cmd.Flags().BoolVar(&in.After, "after", false, "lose it when it has done its work")
	return cmd
}

func newFailDisk(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	in := &run.AddFault{DiskFull: true}
	return faultFlags(r.Destroys(&cobra.Command{
		Use:     "disk",
		Short:   "Make each operation fail that writes, as on a full disk",
		Example: "  redeliver fail disk --for 5m",
		Args:    cli.Arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return inject(cmd, r, in) },
	}), in)
}

func newFailHost(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	in := &run.CrashAt{}
	points := make([]string, len(faults.Points()))
	for i, p := range faults.Points() {
		points[i] = string(p)
	}
	cmd := r.Destroys(&cobra.Command{
		Use:   "host FUNCTION POINT",
		Short: "Kill the host at a point of a delivery of a function",
		Long: `Fail kills the process of the host, as kill -9 does, when a delivery of the
function reaches a point: nothing is settled then and nothing is cleaned up.
The next "redeliver start" goes on with the data: what was not settled comes
again when its lock or lease has ended, and its retries count from 0. The
points, in their order:

  ` + strings.Join(points, "\n  "),
		Example: `  redeliver fail host ProcessOrder betweenAttempts --nth 2
  redeliver send queue orders '{"id":"7","fail":true}'`,
		Args: cli.Arguments(2, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return points, remote.NoMore
			}
			return remote.CompleteFirst(&r.Target, remote.NoMore, functionNames)(cmd, args, start)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Function, in.Point = args[0], args[1]
			return remote.Tell(cmd, r, *in, func(*ops.None) string { return crashText(in) })
		},
	})
	cmd.Flags().IntVar(&in.Nth, "nth", 1, "which time the point is reached")
	return cmd
}

func crashText(in *run.CrashAt) string {
	return fmt.Sprintf("the host will be killed at point %s of a delivery of %q\n", in.Point, in.Function)
}

func newFailNothing(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "nothing",
		Short: "End all faults of operations, handlers and the disk",
		Args:  cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return remote.Tell(cmd, r, run.ClearFaults{}, endedFaults)
		},
	})
}

func endedFaults(out *run.Faults) string {
	return fmt.Sprintf("%s ended\n", cli.Plural(len(out.Faults), "fault"))
}

// faultLines are the faults that wait, a line each.
func faultLines(list []run.Fault) string {
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

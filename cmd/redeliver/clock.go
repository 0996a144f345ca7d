package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/ops/run"
)

// longestAdvance is the most that [run.AdvanceClock] takes: a year.
const longestAdvance = 366 * 24 * time.Hour

func newClock(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	cmd := r.Changes(&cobra.Command{
		Use:   "clock",
		Short: "Show, move or stop the clock of the running host",
		Long: `Clock shows the time of the running host, the wall's, how the clock moves, and
what is due next. Its commands move it, or change how it moves: time then goes
on from where it is, and nothing that is pending is lost. Moved by hand it waits for
each handler that runs, as long as that takes; in the modes real and auto, a second.
While time stands still locks, leases, retry waits and timeouts stand still too. A
host that stops follows the wall.`,
		Example: `  redeliver clock
  redeliver clock manual
  redeliver clock advance 15m`,
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return remote.Tell(cmd, r, run.GetClock{}, timeText)
		},
	})
	cmd.AddCommand(r.Changes(&cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move the clock; everything that becomes due on the way happens",
		Example: `  redeliver clock advance 15m`,
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := cli.ParseSpan(args[0])
			if err != nil || by <= 0 || by > longestAdvance {
				return cli.Misused(fmt.Errorf("%q: want a duration above 0 and at most 8784h (P366D), %s", args[0], cli.SpanForms))
			}
			return remote.Tell(cmd, r, run.AdvanceClock{By: by}, timeText)
		},
	}), r.Changes(&cobra.Command{
		Use:   "next",
		Short: "Move the clock to what is due next, which happens",
		Args:  cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return remote.Tell(cmd, r, run.NextDeadline{}, timeText)
		},
	}))
	for _, mode := range []struct {
		pace  clock.Pace
		short string
	}{
		{clock.Real, "Let the clock follow the wall, from its present time on"},
		{clock.Debug, "As real, but stand still while a handler runs, for breakpoints"},
		{clock.Auto, "Let the clock skip every wait"},
		{clock.Manual, "Stop the clock at its present time until it is moved"},
	} {
		cmd.AddCommand(r.Changes(&cobra.Command{
			Use:   string(mode.pace),
			Short: mode.short,
			Args:  cli.Arguments(0, 0),
			RunE: func(cmd *cobra.Command, args []string) error {
				return remote.Tell(cmd, r, run.SetClock{Mode: mode.pace}, timeText)
			},
		}))
	}
	return cmd
}

func timeText(st *run.ClockStatus) string {
	var t strings.Builder
	cli.Writef(&t, "%s  (%s virtual, %s real since the start)\n", st.Now.Format(time.RFC3339),
		cli.RoundTime(time.Duration(st.VirtualElapsedMS)*time.Millisecond), cli.RoundTime(time.Duration(st.RealElapsedMS)*time.Millisecond))
	cli.Writef(&t, "  wall  %s\n", st.Wall.Format(time.RFC3339))
	if st.Virtual {
		cli.Writef(&t, "  mode  %s\n", show.ModeText(st.Mode))
	}
	for i, d := range st.Due {
		label := "    "
		if i == 0 {
			label = "next"
		}
		cli.Writef(&t, "  %s  %s  in %s  %s\n", label, d.At.Format(time.RFC3339), cli.RoundTime(d.At.Sub(st.Now)), cmp.Or(d.Name, d.Wait))
	}
	return t.String()
}

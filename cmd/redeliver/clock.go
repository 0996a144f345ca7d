package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/ops/run"
)

// clockModes are the modes of the clock.
var clockModes = []string{string(clock.Real), string(clock.Debug), string(clock.Auto), string(clock.Manual)}

// modeText says what the clock does in a mode.
func modeText(mode clock.Pace) string {
	switch mode {
	case clock.Auto:
		return "auto: waiting is skipped whenever nothing is left to do"
	case clock.Manual:
		return "manual: time stands still until it is moved (redeliver clock advance 15m, clock next)"
	case clock.Debug:
		return "debug: follows the wall, but stands still while a handler runs"
	}
	return "real: follows the wall"
}

// setPace sets the pace of the clock. Accounts outside this host end their locks in real
// time, so with one it can only be real.
func (c *common) setPace(mode clock.Pace) error {
	c.pacing.Lock()
	defer c.pacing.Unlock()
	if mode != clock.Real && c.onlyReal != "" {
		return fmt.Errorf("the clock has to be real: %s is an account outside this host, and its locks end in real time", c.onlyReal)
	}
	c.clock.SetPace(mode)
	return nil
}

// outside is told the first connection to an account outside this host.
func (c *common) outside(setting string) {
	c.pacing.Lock()
	defer c.pacing.Unlock()
	c.onlyReal = setting
	if c.clock.Pace() == clock.Real {
		return
	}
	c.clock.SetPace(clock.Real)
	c.out.Say("info", fmt.Sprintf("%s is an account outside this host, and its locks end in real time: the clock follows the wall", setting))
}

// hurryUp lets a clock that stands still go on for the end of the host, whose waits for
// handlers are limited by it.
func (c *common) hurryUp() {
	if mode := c.clock.Pace(); mode == clock.Manual || mode == clock.Debug {
		_ = c.setPace(clock.Real) // which is always possible
	}
}

// longestAdvance is the most that [run.AdvanceClock] takes: a year.
const longestAdvance = 366 * 24 * time.Hour

func newClock(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	cmd := r.Changes(&cobra.Command{
		Use:   "clock",
		Short: "Show, move or stop the clock of the running host",
		Long: `Clock shows the time of the running host, the wall's, how the clock moves, and
what is due next. Its commands move it, or change how it moves: time then goes
on from where it is, and nothing that is pending is lost. While time stands
still locks, leases, retry waits and timeouts stand still too. A host that stops
follows the wall.`,
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
		cli.Writef(&t, "  mode  %s\n", modeText(st.Mode))
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

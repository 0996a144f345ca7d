package verbs

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/ops/run"
)

// GetClock shows the clock.
var GetClock = Verb[run.GetClock, run.ClockStatus]{ // read only
	Use: "clock", Short: "Show, move or stop the clock of the running host",
	Long: `Clock shows the time of the running host, the wall's, how the clock moves, and
what is due next. Its commands move it, or change how it moves: time then goes
on from where it is, and nothing that is pending is lost. Moved by hand it waits
for each handler that runs, as long as that takes; in the modes real and auto, a
second. While time stands still locks, leases, retry waits and timeouts stand
still too. A host that stops follows the wall.`,
	Example: `  redeliver clock
  redeliver clock manual
  redeliver clock advance 15m`,
	Brief: true, Text: timeText[run.GetClock],
}

// AdvanceClock moves the clock.
var AdvanceClock = Verb[run.AdvanceClock, run.ClockStatus]{ // read only
	Use: "advance DURATION", Short: "Move the clock; everything that becomes due on the way happens",
	Example: `  redeliver clock advance 15m`, Text: timeText[run.AdvanceClock],
}

// NextDeadline moves the clock to what is due.
var NextDeadline = Verb[run.NextDeadline, run.ClockStatus]{ // read only
	Use: "next", Short: "Move the clock to what is due next, which happens", Text: timeText[run.NextDeadline],
}

// SetClock changes how the clock moves.
func SetClock(mode clock.Pace, short string) Verb[run.SetClock, run.ClockStatus] {
	return Verb[run.SetClock, run.ClockStatus]{In: run.SetClock{Mode: mode}, Use: string(mode), Short: short, Text: timeText[run.SetClock]}
}

func clockCommand(std cli.Streams) *cobra.Command {
	cmd := GetClock.Command(std)
	cmd.Args = cli.KnownCommand
	cmd.AddCommand(
		AdvanceClock.Command(std), NextDeadline.Command(std),
		SetClock(clock.Real, "Let the clock follow the wall, from its present time on").Command(std),
		SetClock(clock.Debug, "As real, but stand still while a handler runs, for breakpoints").Command(std),
		SetClock(clock.Auto, "Let the clock skip every wait").Command(std),
		SetClock(clock.Manual, "Stop the clock at its present time until it is moved").Command(std),
	)
	return cmd
}

func timeText[In any](_ *In, st *run.ClockStatus) string {
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

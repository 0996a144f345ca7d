package run

import (
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/clock"
)

// With an account outside this host the clock follows the wall, from whatever it was, and
// takes no other pace.
func TestPaceWithAnAccountOutside(t *testing.T) {
	t.Parallel()
	for _, mode := range show.ClockModes {
		var told strings.Builder
		s := &common{clock: clock.NewVirtual(time.Now(), nil), out: cli.NewConsole(cli.Streams{Out: &told, Err: &told}, true)}
		t.Cleanup(s.clock.Close)
		if err := s.setPace(clock.Pace(mode)); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		s.outside("Orders")
		if got := s.clock.Pace(); got != clock.Real {
			t.Errorf("%s: the clock is %s, want real", mode, got)
		}
		if said := strings.Contains(told.String(), "Orders is an account outside"); said != (mode != "real") {
			t.Errorf("%s: says %q", mode, told.String())
		}
		if err := s.setPace(clock.Manual); err == nil || !strings.Contains(err.Error(), "Orders is an account outside") {
			t.Errorf("%s: manual is refused with %v", mode, err)
		}
		if err := s.setPace(clock.Real); err != nil {
			t.Errorf("%s: real: %v", mode, err)
		}
	}
}

// A line that comes before there is a clock has the time at which it came: builds of apps
// are told before.
func TestTimeBeforeTheClock(t *testing.T) {
	t.Parallel()
	s := &common{begun: time.Now().Add(-time.Hour)}
	if late := time.Since(s.now()); late > time.Minute {
		t.Errorf("its time is %v ago", late)
	}
}

package host

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/process"
)

// movedClock is a clock that time has gone past since its last event.
type movedClock struct {
	*clock.Virtual
	at time.Time
}

func (c *movedClock) Now() time.Time     { return c.at }
func (c *movedClock) Present() time.Time { c.at = c.at.Add(11 * time.Second); return c.at }

// What a program writes by itself has the time at which it came, not that of the last event.
func TestOutputIsOfThePresent(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clk := &movedClock{clock.NewVirtual(begun, nil), begun}
	c := &core{clk: clk, journal: journal.New(clk.Now, nil)}
	write := (&handlers{core: c}).outputOf("dotnet-isolated")
	for range 2 {
		write(process.Line{Level: call.Information, Text: "tick"})
	}
	sub := c.journal.Subscribe(1)
	defer sub.Close()
	for i := range 2 {
		rec, _, _ := sub.TryNext()
		if got, want := rec.Time.Sub(begun), time.Duration(i+1)*11*time.Second; got != want {
			t.Errorf("line %d came after %v, want %v", i+1, got, want)
		}
	}
}

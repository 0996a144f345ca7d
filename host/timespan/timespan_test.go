package timespan_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/timespan"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "-3s": -3 * time.Second, "1.5h": 90 * time.Minute,
		"2d": 2 * day, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, "-2d": -2 * day, "1h1d": 25 * time.Hour, "106751d": 106751 * day,
		"00:15:00": 15 * time.Minute, "1.00:00:00": day, "-00:00:01.5": -1500 * time.Millisecond,
		"PT10M": 10 * time.Minute, "P14D": 14 * day, "-PT1S": -time.Second, "PT0S": 0,
	} {
		if got, err := timespan.Parse(text); got != want || err != nil {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "soon", "30", "d", "1d ", "1 d", "106752d", "1e3d", "00:60:00", "1:2:3:4:5", "P", "PT", "P1", "p1d", "1w", "1h30"} {
		if got, err := timespan.Parse(text); got != 0 || err == nil || err.Error() != "want a duration, "+timespan.Forms {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

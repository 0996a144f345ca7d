package duration_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

func TestParseAndFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want time.Duration
		out  string // empty: text
	}{
		{"PT1M", time.Minute, ""},
		{"PT30S", 30 * time.Second, ""},
		{"PT0.5S", 500 * time.Millisecond, ""},
		{"PT5.0000001S", 5*time.Second + 100, ""},
		{"P14D", 14 * 24 * time.Hour, ""},
		{"P1DT2H3M4.5S", 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, ""},
		{"PT60S", time.Minute, "PT1M"},
		{"PT24H", 24 * time.Hour, "P1D"},
		{"P1Y", 365 * 24 * time.Hour, "P365D"},
		{"P1M", 30 * 24 * time.Hour, "P30D"},
		{"PT0S", 0, ""},
		{"P0D", 0, "PT0S"},
		{"-PT1M", -time.Minute, ""},
		{"PT1.00000009S", time.Second, "PT1S"},
		{"P10675199DT2H48M5.4775807S", duration.Unbounded, ""},
		// The maximum, as the Python client writes it.
		{"P10675199DT2H48M5.47758S", duration.Unbounded, "P10675199DT2H48M5.4775807S"},
		{"P200000D", duration.Unbounded, "P10675199DT2H48M5.4775807S"},
	} {
		got, err := duration.Parse(c.text)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
		if c.out == "" {
			c.out = c.text
		}
		if got := duration.Format(c.want); got != c.out {
			t.Errorf("Format(%v) = %q, want %q", c.want, got, c.out)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "P", "PT", "P1DT", "1M", "T1M", "PT1", "P1H", "PT1D", "PTM", "PT1M1H", "PT1M1M", "PT1.5M", "PT.5S", "PT1.S",
		"PT1..5S", "P-1D", "PT1M ", " PT1M", "00:01:00", "PT1m", "P1W", "--PT1M", "P99999999999999999999D",
		"P10675199DT2H48M5.477581S", "P10675200D",
	} {
		if got, err := duration.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
}

// FuzzParse: what reads is written so that it reads the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"PT1M", "P1DT2H3M4.5S", "P10675199DT2H48M5.4775807S", "-P1Y2M", "-P200000D"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := duration.Parse(text)
		if err != nil {
			return
		}
		again, err := duration.Parse(duration.Format(d))
		if err != nil || again != d {
			t.Fatalf("Parse(%q) = %v; written %q, it reads %v, %v", text, d, duration.Format(d), again, err)
		}
	})
}

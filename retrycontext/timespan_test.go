package retrycontext_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

func TestParseTimeSpan(t *testing.T) {
	t.Parallel()
	unescape := strings.NewReplacer(`\t`, "\t", `\n`, "\n")
	for _, row := range golden(t, "testdata/timespans.golden.tsv", 3) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			checkTimeSpan(t, unescape.Replace(row[0]), row[1])
		})
	}
	t.Run("empty", func(t *testing.T) { t.Parallel(); checkTimeSpan(t, "", "invalid") })
	t.Run("blank", func(t *testing.T) { t.Parallel(); checkTimeSpan(t, " \t", "invalid") })
}

func checkTimeSpan(t *testing.T, text, want string) {
	t.Helper()
	got, err := retrycontext.ParseTimeSpan(text)
	if want == "invalid" {
		bad, ok := errors.AsType[*retrycontext.TimeSpanError](err)
		if !ok || bad.Text != text || bad.Reason == "" {
			t.Errorf("ParseTimeSpan(%q) = %v, %v, want a *TimeSpanError", text, got, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if canonical := retrycontext.FormatTimeSpan(got); canonical != want {
		t.Errorf("ParseTimeSpan(%q) = %s, want %s", text, canonical, want)
	}
}

// TestParseTimeSpanSaturates: valid on the platform, too long for Go.
func TestParseTimeSpanSaturates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"200000": math.MaxInt64, "-200000": math.MinInt64} {
		if got, err := retrycontext.ParseTimeSpan(text); got != want || err != nil {
			t.Errorf("ParseTimeSpan(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestTimeSpanErrorText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"25:00":     `"25:00" is not a time span: hours must be 0 to 23`,
		"00:60:00":  `"00:60:00" is not a time span: minutes must be 0 to 59`,
		"24:60:00":  `"24:60:00" is not a time span: hours must be 0 to 23`,
		"100000000": `"100000000" is not a time span: days must be 0 to 10675199`,
		"":          `"" is not a time span: it is empty`,
	} {
		if _, err := retrycontext.ParseTimeSpan(text); err == nil || err.Error() != want {
			t.Errorf("ParseTimeSpan(%q): %v, want %s", text, err, want)
		}
	}
}

func TestFormatTimeSpan(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"00:00:00":                 0,
		"00:00:00.0000001":         199,
		"-00:00:00.0000001":        -100,
		"00:15:00":                 15 * time.Minute,
		"-1.00:00:00":              -24 * time.Hour,
		"49.17:02:47.2940000":      retrycontext.MaxDelay,
		"106751.23:47:16.8547758":  math.MaxInt64,
		"-106751.23:47:16.8547758": math.MinInt64,
		"1.02:03:04.5000000":       26*time.Hour + 3*time.Minute + 4500*time.Millisecond,
	} {
		if got := retrycontext.FormatTimeSpan(d); got != want {
			t.Errorf("FormatTimeSpan(%d) = %s, want %s", d, got, want)
		}
	}
	if got := retrycontext.FormatTimeSpan(-99); got != "00:00:00" {
		t.Errorf("FormatTimeSpan(-99ns) = %s, want 00:00:00", got)
	}
}

func TestTimeSpanRoundTrip(t *testing.T) {
	t.Parallel()
	const seed = 7
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 20000 {
		d := time.Duration(int64(r.Uint64()) >> r.IntN(63)).Truncate(100)
		text := retrycontext.FormatTimeSpan(d)
		if got, err := retrycontext.ParseTimeSpan(text); got != d || err != nil {
			t.Fatalf("ParseTimeSpan(%q) = %d, %v, want %d", text, got, err, d)
		}
	}
}

func TestLooksOtherwise(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{"10", "10 days"}, {"1", "1 day"}, {"-1", "minus 1 day"}, {" 5 ", "5 days"},
		{"0:10", "10 minutes"}, {"00:01", "1 minute"}, {"05:30", "5 hours 30 minutes"},
		{"24:00:00", "24 days"}, {"30:01:05", "30 days 1 hour 5 minutes"},
		{"00:00:10", ""}, {"23:59:59", ""}, {"1.00:00:00", ""}, {"25.00:00:00", ""}, {"24:00:00:00", ""}, {"1.02:03", ""},
		{"0", ""}, {"00:00", ""}, {"25:00", ""}, {"", ""}, {"abc", ""},
	} {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			if got, ok := retrycontext.LooksOtherwise(row.text); got != row.want || ok != (row.want != "") {
				t.Errorf("LooksOtherwise(%q) = %q, %v, want %q", row.text, got, ok, row.want)
			}
		})
	}
}

func FuzzParseTimeSpan(f *testing.F) {
	for _, row := range golden(f, "testdata/timespans.golden.tsv", 3) {
		f.Add(row[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := retrycontext.ParseTimeSpan(text)
		if err != nil {
			if reading, ok := retrycontext.LooksOtherwise(text); ok {
				t.Errorf("LooksOtherwise(%q) reads an invalid text as %q", text, reading)
			}
			return
		}
		canonical := retrycontext.FormatTimeSpan(d)
		again, err := retrycontext.ParseTimeSpan(canonical)
		if err != nil || again != d.Truncate(100) {
			t.Errorf("ParseTimeSpan(%q) = %d; as %q it reads %d, %v", text, d, canonical, again, err)
		}
		if twice := retrycontext.FormatTimeSpan(again); twice != canonical {
			t.Errorf("canonical form of %q changes from %q to %q", text, canonical, twice)
		}
	})
}

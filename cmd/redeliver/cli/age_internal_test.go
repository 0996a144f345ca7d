package cli

import (
	"strings"
	"testing"
	"time"
)

// A build says that it is old from 180 days on, once nothing silences it.
func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct{ name, date, set, want string }{
		{"of today", "2026-11-28", "", ""},
		{"of 179 days", "2026-06-02", "", ""},
		{"of 180 days", "2026-06-01", "", "this version is 6 months old; newer ones: https://github.com/redeliver/redeliver/releases "},
		{"of two years", "2024-11-28", "", "this version is 24 months old; "},
		{"silenced", "2024-11-28", "REDELIVER_NO_NOTICE", ""},
		{"in CI", "2024-11-28", "CI", ""},
		{"of tomorrow", "2026-11-29", "", ""},
		{"of no day", "", "", ""},
		{"of no date", "yesterday", "", ""},
	} {
		got := Build{Date: row.date}.age(now, func(name string) string {
			if name == row.set {
				return "1"
			}
			return ""
		})
		if (got == "") != (row.want == "") || !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

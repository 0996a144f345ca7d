package timer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/triggers/timer"
)

func TestLocation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		settings    map[string]string
		want, warns string
	}{
		{"nothing set", nil, "UTC", ""},
		{"empty settings", map[string]string{"WEBSITE_TIME_ZONE": "", "TZ": " "}, "UTC", ""},
		{"IANA name", map[string]string{"WEBSITE_TIME_ZONE": "Europe/Berlin"}, "Europe/Berlin", ""},
		{"Windows name", map[string]string{"WEBSITE_TIME_ZONE": "Pacific Standard Time"}, "America/Los_Angeles", ""},
		{"Windows name in any case", map[string]string{"WEBSITE_TIME_ZONE": "w. europe standard TIME"}, "Europe/Berlin", ""},
		{"TZ", map[string]string{"TZ": "Asia/Tokyo"}, "Asia/Tokyo", ""},
		{"TZ in its long form", map[string]string{"TZ": ":Asia/Tokyo"}, "Asia/Tokyo", ""},
		{"WEBSITE_TIME_ZONE before TZ", map[string]string{"WEBSITE_TIME_ZONE": "Asia/Tokyo", "TZ": "Europe/Berlin"}, "Asia/Tokyo", ""},
		{"unknown name", map[string]string{"WEBSITE_TIME_ZONE": "Mars/Olympus", "TZ": "Europe/Berlin"}, "UTC", `WEBSITE_TIME_ZONE: "Mars/Olympus"`},
		{"POSIX rules", map[string]string{"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"}, "UTC", `TZ: "CET-1CEST`},
		{"the machine's zone", map[string]string{"TZ": "Local"}, "UTC", `TZ: "Local"`},
		{"a path", map[string]string{"TZ": "/etc/localtime"}, "UTC", `TZ: "/etc/localtime"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			loc, warning := timer.Location(func(name string) (string, bool) {
				v, ok := tt.settings[name]
				return v, ok
			})
			if got := loc.String(); got != tt.want {
				t.Errorf("Location = %s, want %s", got, tt.want)
			}
			if (warning == "") != (tt.warns == "") || !strings.HasPrefix(warning, tt.warns) {
				t.Errorf("warning = %q, want it to begin with %q", warning, tt.warns)
			}
		})
	}
}

// TestWindowsZones checks the table by what people know of these zones: the
// offset in the middle of January.
func TestWindowsZones(t *testing.T) {
	t.Parallel()
	january := time.Date(2024, 1, 15, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"Dateline Standard Time": "-12:00", "Hawaiian Standard Time": "-10:00", "Pacific Standard Time": "-08:00",
		"Eastern Standard Time": "-05:00", "Newfoundland Standard Time": "-03:30", "E. South America Standard Time": "-03:00",
		"UTC": "+00:00", "GMT Standard Time": "+00:00", "W. Europe Standard Time": "+01:00", "FLE Standard Time": "+02:00",
		"Russian Standard Time": "+03:00", "Iran Standard Time": "+03:30", "India Standard Time": "+05:30",
		"Nepal Standard Time": "+05:45", "China Standard Time": "+08:00", "Tokyo Standard Time": "+09:00",
		"AUS Eastern Standard Time": "+11:00", "New Zealand Standard Time": "+13:00", "Line Islands Standard Time": "+14:00",
	} {
		loc, warning := timer.Location(func(setting string) (string, bool) { return name, setting == "WEBSITE_TIME_ZONE" })
		if warning != "" {
			t.Errorf("%s: %s", name, warning)
			continue
		}
		if got := january.In(loc).Format("-07:00"); got != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
}

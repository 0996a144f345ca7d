package timer_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests must not depend on the machine's zone files

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/triggers/timer"
)

func mustParse(t *testing.T, text string) timer.Schedule {
	t.Helper()
	s, err := timer.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// series returns n ticks after a moment, with their offsets.
func series(s timer.Schedule, after time.Time, loc *time.Location, n int) []string {
	var ticks []string
	for range n {
		after = s.Next(after, loc)
		ticks = append(ticks, after.Format(time.RFC3339Nano))
	}
	return ticks
}

// TestNextUTC holds the published examples of NCRONTAB (documentation page of the
// timer trigger) and the rules of the library that reads them (ncron:
// CrontabSchedule.cs).
func TestNextUTC(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schedule, after, want string }{
		{"every five minutes", "0 */5 * * * *", "2024-03-15T10:02:17Z", "2024-03-15T10:05:00Z"},
		{"every hour", "0 0 * * * *", "2024-03-15T10:00:00Z", "2024-03-15T11:00:00Z"},
		{"every two hours", "0 0 */2 * * *", "2024-03-15T22:30:00Z", "2024-03-16T00:00:00Z"},
		{"hours nine to five", "0 0 9-17 * * *", "2024-03-15T17:00:00Z", "2024-03-16T09:00:00Z"},
		{"half past nine", "0 30 9 * * *", "2024-03-15T09:29:59Z", "2024-03-15T09:30:00Z"},
		{"weekdays", "0 30 9 * * 1-5", "2024-03-15T09:30:00Z", "2024-03-18T09:30:00Z"},
		{"mondays in january", "0 30 9 * Jan Mon", "2024-03-15T09:30:00Z", "2025-01-06T09:30:00Z"},
		{"list of seconds", "5,8,10 * * * * *", "2024-03-15T09:30:08Z", "2024-03-15T09:30:10Z"},
		{"five fields mean second 0", "30 9 * * *", "2024-03-15T09:29:59Z", "2024-03-15T09:30:00Z"},
		{"strictly after", "0 30 9 * * *", "2024-03-15T09:30:00Z", "2024-03-16T09:30:00Z"},
		{"fractions of the base are dropped", "* * * * * *", "2024-03-15T09:30:00.9Z", "2024-03-15T09:30:01Z"},
		{"day of month and day of week", "0 0 0 13 * 5", "2024-03-15T00:00:00Z", "2024-09-13T00:00:00Z"},
		{"31 in short months", "0 0 0 31 * *", "2024-03-31T00:00:00Z", "2024-05-31T00:00:00Z"},
		{"leap day", "0 0 0 29 2 *", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"leap day across 2100", "0 0 0 29 2 1", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"},
		{"step from a value runs to the end", "10/20 * * * * *", "2024-03-15T09:30:00Z", "2024-03-15T09:30:10Z"},
		{"step in a range", "0 10-50/20 * * * *", "2024-03-15T09:30:00Z", "2024-03-15T09:50:00Z"},
		{"step of nothing is one", "*/0 * * * * *", "2024-03-15T09:30:00Z", "2024-03-15T09:30:01Z"},
		{"step beyond the end", "7/99 * * * * *", "2024-03-15T09:30:07Z", "2024-03-15T09:31:07Z"},
		{"long names in any case", "0 0 0 * sePTem MONDAY", "2024-03-15T00:00:00Z", "2024-09-02T00:00:00Z"},
		{"two letters", "0 0 0 * ja *", "2024-03-15T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"one letter is the first name that fits", "0 0 0 * j S", "2024-03-15T00:00:00Z", "2025-01-05T00:00:00Z"},
		{"range of names", "0 0 0 * * tue-thu", "2024-03-15T00:00:00Z", "2024-03-19T00:00:00Z"},
		{"backward range is turned", "0 0 0 * * FRI-MON", "2024-03-16T00:00:00Z", "2024-03-18T00:00:00Z"},
		{"surplus spaces", "  0   30 9 * * *  ", "2024-03-15T09:00:00Z", "2024-03-15T09:30:00Z"},
		{"year's end", "59 59 23 31 12 *", "2024-12-31T23:59:59Z", "2025-12-31T23:59:59Z"},
		{"never", "0 0 0 30 2 *", "2024-03-15T00:00:00Z", "9999-12-31T23:59:59.9999999Z"},
		{"never again", "0 0 0 * * *", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59.9999999Z"},
		{"time span", "00:00:10", "2024-03-15T09:30:00.25Z", "2024-03-15T09:30:10.25Z"},
		{"24:00:00 is 24 days", "24:00:00", "2024-03-01T00:00:00Z", "2024-03-25T00:00:00Z"},
		{"one number is days", "2", "2024-03-01T00:00:00Z", "2024-03-03T00:00:00Z"},
		{"time span beyond the calendar", "100000", "9900-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, tt.schedule)
			got := s.Next(instant(t, tt.after), time.UTC)
			if got, want := got.Format(time.RFC3339Nano), tt.want; got != want {
				t.Errorf("Next(%q, %s) = %s, want %s", tt.schedule, tt.after, got, want)
			}
			if got, want := timer.IsNever(got), strings.HasPrefix(tt.want, "9999"); got != want {
				t.Errorf("IsNever = %t, want %t", got, want)
			}
			if got := s.String(); got != tt.schedule {
				t.Errorf("String() = %q, want the text as written", got)
			}
		})
	}
}

// TestNextSummerTime holds the cases that the platform's own source argues with
// (exttimer: CronSchedule.cs, comments on the Pacific zone in 2018), and those
// where zones differ from that one. Further ones: host/judge TestTimers.
func TestNextSummerTime(t *testing.T) {
	t.Parallel()
	const pacific, lordHowe = "America/Los_Angeles", "Australia/Lord_Howe"
	tests := []struct {
		name, zone, schedule, after string
		want                        []string
	}{
		{"forward, point in time moves", pacific, "0 30 2 * * *", "2018-03-10T03:00:00-08:00",
			[]string{"2018-03-11T03:30:00-07:00", "2018-03-12T02:30:00-07:00"}},
		{"forward, five fields", pacific, "30 2 * * *", "2018-03-10T03:00:00-08:00",
			[]string{"2018-03-11T03:30:00-07:00", "2018-03-12T02:30:00-07:00"}},
		{"forward, several in the skipped hour", pacific, "0 0,30 2 * * *", "2018-03-10T03:00:00-08:00",
			[]string{"2018-03-11T03:00:00-07:00", "2018-03-12T02:00:00-07:00", "2018-03-12T02:30:00-07:00"}},
		{"forward, interval", pacific, "0 */30 * * * *", "2018-03-11T01:00:00-08:00",
			[]string{"2018-03-11T01:30:00-08:00", "2018-03-11T03:00:00-07:00", "2018-03-11T03:30:00-07:00", "2018-03-11T04:00:00-07:00"}},
		{"forward, from within the moved hour", pacific, "0 30 2 * * *", "2018-03-11T03:10:00-07:00",
			[]string{"2018-03-12T02:30:00-07:00"}},
		{"forward, other hours stay", pacific, "0 30 3 * * *", "2018-03-11T00:00:00-08:00",
			[]string{"2018-03-11T03:30:00-07:00", "2018-03-12T03:30:00-07:00"}},
		{"forward, half an hour", lordHowe, "0 15 2 * * *", "2018-10-06T12:00:00+10:30",
			[]string{"2018-10-07T02:45:00+11:00", "2018-10-08T02:15:00+11:00"}},
		{"back, point in time runs once", pacific, "0 30 1 * * *", "2018-11-03T00:00:00-07:00",
			[]string{"2018-11-03T01:30:00-07:00", "2018-11-04T01:30:00-07:00", "2018-11-05T01:30:00-08:00"}},
		{"back, from the second hour", pacific, "0 30 1 * * *", "2018-11-04T01:29:00-08:00",
			[]string{"2018-11-05T01:30:00-08:00"}},
		{"back, list of points runs once", pacific, "0 15,45 1 * * *", "2018-11-04T01:20:00-07:00",
			[]string{"2018-11-04T01:45:00-07:00", "2018-11-05T01:15:00-08:00"}},
		{"back, yearly point in time is left out", pacific, "0 30 1 4 11 *", "2018-01-01T00:00:00-08:00",
			[]string{"2019-11-04T01:30:00-08:00"}},
		{"back, yearly point in time runs from summer on", pacific, "0 30 1 4 11 *", "2018-07-01T00:00:00-07:00",
			[]string{"2018-11-04T01:30:00-07:00"}},
		{"back, a step that is spelled out is no interval", pacific, "0 */20 1 * * *", "2018-11-04T01:10:00-07:00",
			[]string{"2018-11-04T01:20:00-07:00", "2018-11-04T01:40:00-07:00", "2018-11-05T01:00:00-08:00"}},
		{"back, neighbours are an interval", pacific, "0 0 1,2 * * *", "2018-11-04T00:30:00-07:00",
			[]string{"2018-11-04T01:00:00-07:00", "2018-11-04T01:00:00-08:00", "2018-11-04T02:00:00-08:00"}},
		{"back, interval runs in both hours", pacific, "0 */30 * * * *", "2018-11-04T00:30:00-07:00",
			[]string{"2018-11-04T01:00:00-07:00", "2018-11-04T01:30:00-07:00", "2018-11-04T01:00:00-08:00",
				"2018-11-04T01:30:00-08:00", "2018-11-04T02:00:00-08:00"}},
		{"back, interval by a range of hours", pacific, "0 0 1-2 * * *", "2018-11-04T00:30:00-07:00",
			[]string{"2018-11-04T01:00:00-07:00", "2018-11-04T01:00:00-08:00", "2018-11-04T02:00:00-08:00"}},
		{"back, five fields", pacific, "*/30 1 * * *", "2018-11-04T00:30:00-07:00",
			[]string{"2018-11-04T01:00:00-07:00", "2018-11-04T01:30:00-07:00", "2018-11-05T01:00:00-08:00"}},
		{"back, a star in the days is no interval", pacific, "0 30 1 */1 * 0-6", "2018-11-04T00:30:00-07:00",
			[]string{"2018-11-04T01:30:00-07:00", "2018-11-05T01:30:00-08:00"}},
		{"time span is real time, forward", pacific, "01:00:00", "2018-03-11T01:30:00-08:00",
			[]string{"2018-03-11T03:30:00-07:00", "2018-03-11T04:30:00-07:00"}},
		{"time span is real time, back", pacific, "01:00:00", "2018-11-04T01:30:00-07:00",
			[]string{"2018-11-04T01:30:00-08:00", "2018-11-04T02:30:00-08:00"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := series(mustParse(t, tt.schedule), instant(t, tt.after), location(t, tt.zone), len(tt.want))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("ticks of %q after %s (-got +want):\n%s", tt.schedule, tt.after, diff)
			}
		})
	}
}

func TestParseScheduleErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, reason string }{
		{"empty", "", "0"},
		{"words", "every day", "this has 2"},
		{"four fields", "* * * *", "this has 4"},
		{"seven fields", "0 0 0 1 1 * 2024", "this has 7"},
		{"second 60", "60 * * * * *", `second "60"`},
		{"minute 60", "0 60 * * * *", `minute "60"`},
		{"hour 24", "0 0 24 * * *", `hour "24"`},
		{"day 0", "0 0 0 0 * *", `day of month "0"`},
		{"day 32", "0 0 0 32 * *", `day of month "32"`},
		{"month 0", "0 0 0 * 0 *", `month "0"`},
		{"month 13", "0 0 0 * 13 *", `month "13"`},
		{"sunday is not 7", "0 0 0 * * 7", `day of week "7"`},
		{"range to 7", "0 0 0 * * 1-7", `day of week "1-7"`},
		{"step from 7", "0 0 0 * * 7/2", `day of week "7/2"`},
		{"question mark", "0 0 0 ? * *", `"?"`},
		{"last day", "0 0 0 L * *", `"L"`},
		{"nearest weekday", "0 0 0 15W * *", `"15W"`},
		{"nth weekday", "0 0 0 * * 5#2", `"5#2"`},
		{"name that goes on", "0 0 0 * januaryx *", `"januaryx"`},
		{"name in a plain field", "jan * * * * *", `"jan"`},
		{"month name as day", "0 0 0 * * jan", `"jan"`},
		{"empty element", "0,,5 * * * * *", "missing"},
		{"open range", "0 5- * * * *", "missing"},
		{"negative", "-5 * * * * *", "missing"},
		{"range of stars", "*-5 * * * * *", `"*"`},
		{"step of what", "/5 * * * * *", "missing"},
		{"step by what", "*/x * * * * *", `step "x"`},
		{"double step", "*/5/5 * * * * *", `step "5/5"`},
		{"minutes of a span", "00:60:00", "minutes"},
		{"zero span", "00:00:00", "above zero"},
		{"negative span", "-00:01:00", "above zero"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := timer.ParseSchedule(tt.text)
			var fault *timer.ScheduleError
			if !errors.As(err, &fault) {
				t.Fatalf("ParseSchedule(%q) = %v, want a *ScheduleError", tt.text, err)
			}
			if fault.Text != tt.text || !strings.Contains(fault.Reason, tt.reason) {
				t.Errorf("ParseSchedule(%q) = %v, want a reason with %q", tt.text, fault, tt.reason)
			}
			if !strings.Contains(err.Error(), "not recognised as cron or time span") {
				t.Errorf("error %q does not say that the text is neither form", err)
			}
		})
	}
}

func TestScheduleProperties(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tests := []struct {
		text          string
		adjust, often bool
		period        time.Duration
	}{
		{"* * * * * *", true, true, time.Second},
		{"*/30 * * * * *", true, true, 30 * time.Second},
		{"0,30 0-59 * * * *", true, true, 30 * time.Second},
		{"5/7 * * * * *", true, true, 7 * time.Second}, // 5, 12, ... 54: 11 across the minute
		{"7 * * * * *", true, false, time.Minute},      // once a minute is monitored
		{"* * * * *", true, false, time.Minute},        // second 0
		{"0,1 */2 * * * *", true, false, time.Second},  // not of the form X * * * * *
		{"* 0 0 * * *", true, false, time.Second},      // neither
		{"0 0 9,17 * * *", true, false, 8 * time.Hour},
		{"0 0 0,23 * * *", true, false, time.Hour}, // across midnight
		{"0 0 12 * * 1,3", true, false, 2 * day},
		{"0 0 12 1 * *", true, false, 28 * day},
		{"0 0 12 1 1 *", true, false, 365 * day},
		{"0 0 0 29 2 *", true, false, 1461 * day},
		{"0 0 0 30 2 *", true, false, time.Duration(math.MaxInt64)},
		{"00:00:59", false, true, 59 * time.Second},
		{"00:01:00", false, false, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, tt.text)
			if got := s.AdjustForDST(); got != tt.adjust {
				t.Errorf("AdjustForDST() = %t, want %t", got, tt.adjust)
			}
			if got := s.Frequent(); got != tt.often {
				t.Errorf("Frequent() = %t, want %t", got, tt.often)
			}
			if got := s.Period(); got != tt.period {
				t.Errorf("Period() = %s, want %s", got, tt.period)
			}
		})
	}
}

func TestZeroScheduleNeverTicks(t *testing.T) {
	t.Parallel()
	var s timer.Schedule
	if next := s.Next(instant(t, "2024-01-01T00:00:00Z"), time.UTC); !timer.IsNever(next) {
		t.Errorf("Next = %s, want never", next)
	}
}

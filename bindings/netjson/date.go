package netjson

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Date is what the reader makes of a text in the form of a date.
type Date struct {
	Time time.Time // in UTC
	Zone string    // as it is written after the date: "Z", "+00:00", or "" without a zone
}

var (
	isoForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|[+-]\d\d:?\d\d)?$`)
	msForm  = regexp.MustCompile(`^/Date\((-?\d+)([+-]\d{4})?\)/$`)
)

// parseDate reads the ISO form with seconds, and milliseconds as "/Date(0)/". An offset is
// reckoned into the host's zone, UTC (Newtonsoft.Json: DateTimeUtils.cs, DateTimeParser.cs).
func parseDate(text string) (Date, bool) {
	if m := msForm.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		zone := "Z"
		if m[2] != "" {
			zone = "+00:00"
		}
		return Date{time.UnixMilli(n).UTC(), zone}, err == nil
	}
	m := isoForm.FindStringSubmatch(text)
	if m == nil {
		return Date{}, false
	}
	switch zone := m[2]; zone {
	case "":
		t, err := time.Parse("2006-01-02T15:04:05", text)
		return Date{t, ""}, err == nil
	case "Z":
		t, err := time.Parse(time.RFC3339, text)
		return Date{t, "Z"}, err == nil
	default:
		t, err := time.Parse("2006-01-02T15:04:05Z0700", strings.TrimSuffix(text, zone)+strings.Replace(zone, ":", "", 1))
		return Date{t.UTC(), "+00:00"}, err == nil
	}
}

// String is the date in JSON.
func (d Date) String() string { return d.Time.Format("2006-01-02T15:04:05.9999999") + d.Zone }

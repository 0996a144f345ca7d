// Package timespan reads the spans of time that people write, on the command line, in scenarios
// and for the test kits, in any of the forms that they know: Go's (1m30s) with days (1d12h), the
// platform's time spans (00:15:00, 1.00:00:00) and the durations of Service Bus (PT10M, P14D).
//
// It sets no limits. Files of the platform are read by package retrycontext alone: there a span
// has the platform's form only.
package timespan

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/retrycontext"
)

// Forms says how a span is written, for the end of a refusal.
const Forms = "such as 30s, 10m, 1d12h, PT10M or 00:10:00"

// errForm refuses what is no span.
var errForm = errors.New("want a duration, " + Forms) // read only

// days are a part of a span in Go's form, which has none.
var days = regexp.MustCompile(`(\d+(?:\.\d+)?)d`) // read only

// Parse reads a span in any form. All its errors have the same text, which says the forms.
func Parse(text string) (d time.Duration, err error) {
	switch {
	case strings.HasPrefix(text, "P"), strings.HasPrefix(text, "-P"):
		d, err = duration.Parse(text)
	case strings.Contains(text, ":"):
		d, err = retrycontext.ParseTimeSpan(text)
	default:
		d, err = time.ParseDuration(days.ReplaceAllStringFunc(text, hours))
	}
	if err != nil {
		return 0, errForm
	}
	return d, nil
}

// hours writes days as hours; too many stay, and are no duration.
func hours(days string) string {
	d, err := time.ParseDuration(strings.TrimSuffix(days, "d") + "h")
	if err != nil || d > math.MaxInt64/24 {
		return days
	}
	return (24 * d).String()
}

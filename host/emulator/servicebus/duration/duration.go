// Package duration reads and writes the durations of Service Bus as they stand in
// its XML and JSON: ISO 8601, as .NET writes a TimeSpan.
//
// It knows no limits of settings; those are the business of the namespace.
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unbounded is the longest duration, which the service takes for none at all. A
// duration above the maximum of time.Duration, 292 years, reads as Unbounded.
const Unbounded = time.Duration(math.MaxInt64)

// unbounded is TimeSpan.MaxValue: the largest number of ticks.
const unbounded = "P10675199DT2H48M5.4775807S"

const (
	tick          = 100 * time.Nanosecond
	ticksOfSecond = int64(time.Second / tick)
)

// The units in their order, with their seconds. As in .NET a year has 365 days and
// a month has 30.
var dateUnits = []unit{{'Y', 365 * 86400}, {'M', 30 * 86400}, {'D', 86400}}
var timeUnits = []unit{{'H', 3600}, {'M', 60}, {'S', 1}}

type unit struct {
	letter  byte
	seconds int64
}

// Format writes d; Unbounded is TimeSpan.MaxValue. Parts of a tick (100 ns) are cut
// off.
func Format(d time.Duration) string {
	switch d {
	case Unbounded:
		return unbounded
	case -Unbounded:
		return "-" + unbounded
	}
	var b []byte
	if d < 0 {
		b = append(b, '-')
	}
	b = append(b, 'P')
	ticks := int64(d / tick)
	if ticks < 0 {
		ticks = -ticks
	}
	seconds, fraction := ticks/ticksOfSecond, ticks%ticksOfSecond
	if days := seconds / 86400; days > 0 {
		b = append(strconv.AppendInt(b, days, 10), 'D')
	}
	if seconds %= 86400; seconds == 0 && fraction == 0 {
		if b[len(b)-1] == 'P' {
			return "PT0S"
		}
		return string(b)
	}
	b = append(b, 'T')
	for _, u := range timeUnits[:2] {
		if n := seconds / u.seconds; n > 0 {
			b = append(strconv.AppendInt(b, n, 10), u.letter)
		}
		seconds %= u.seconds
	}
	if seconds > 0 || fraction > 0 {
		b = strconv.AppendInt(b, seconds, 10)
		if fraction > 0 {
			b = append(b, strings.TrimRight(fmt.Sprintf(".%07d", fraction), "0")...)
		}
		b = append(b, 'S')
	}
	return string(b)
}

// Parse reads a duration such as PT1M, P14D or P1DT2H3.5S. It fails on what is no
// duration and on what is longer than the service can hold.
func Parse(s string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(s, "-")
	rest, ok := strings.CutPrefix(rest, "P")
	if !ok {
		return 0, malformed(s)
	}
	date, clock, timed := strings.Cut(rest, "T")
	if date == "" && clock == "" || timed && clock == "" {
		return 0, malformed(s)
	}
	ticks, err := sum(0, date, dateUnits)
	if err == nil {
		ticks, err = sum(ticks, clock, timeUnits)
	}
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w", s, err)
	}
	d := Unbounded
	if ticks <= int64(Unbounded/tick) {
		d = time.Duration(ticks) * tick
	}
	if negative {
		d = -d
	}
	return d, nil
}

func malformed(s string) error {
	return fmt.Errorf("duration %q: want an ISO 8601 duration such as PT1M, PT30S or P14D", s)
}

// sum adds the components of one half of a duration to ticks. They stand in the
// order of units, each at most once; only seconds may have a fraction.
func sum(ticks int64, s string, units []unit) (int64, error) {
	next := 0
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n <= 0 {
			return 0, fmt.Errorf("want numbers with their units")
		}
		number, letter := s[:n], s[n]
		s = s[n+1:]
		for next < len(units) && units[next].letter != letter {
			next++
		}
		if next == len(units) {
			return 0, fmt.Errorf("unit %q is unknown here or out of order", letter)
		}
		more, err := units[next].ticks(number)
		if err != nil {
			return 0, err
		}
		if ticks > math.MaxInt64-more {
			return 0, errTooLong()
		}
		ticks += more
		next++
	}
	return ticks, nil
}

func errTooLong() error { return fmt.Errorf("longer than %s", unbounded) }

func (u unit) ticks(number string) (int64, error) {
	whole, fraction, pointed := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case pointed && u.letter != 'S', pointed && (fraction == "" || strings.Contains(fraction, ".")):
		return 0, fmt.Errorf("%q: only seconds have a fraction", number)
	case whole == "":
		return 0, fmt.Errorf("%q is not a number", number)
	case err != nil || n > math.MaxInt64/ticksOfSecond/u.seconds:
		return 0, errTooLong()
	}
	n *= u.seconds * ticksOfSecond
	if pointed {
		f, _ := strconv.ParseInt((fraction + "0000000")[:7], 10, 64)
		if n > math.MaxInt64-f {
			return 0, errTooLong()
		}
		n += f
	}
	return n, nil
}

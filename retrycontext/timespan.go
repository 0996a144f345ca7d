package retrycontext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Time spans of the platform count ticks of 100 ns in 64 bits.
const (
	tick           = 100 * time.Nanosecond
	ticksPerSecond = uint64(time.Second / tick)
	maxDays        = 10_675_199
	fractionDigits = 7
)

// A TimeSpanError says why a text is not a time span.
type TimeSpanError struct {
	Text   string
	Reason string
}

func (e *TimeSpanError) Error() string {
	return fmt.Sprintf("%q is not a time span: %s", e.Text, e.Reason)
}

// ParseTimeSpan reads a time span as the platform does (.NET TimeSpan.Parse with
// the invariant culture). Leading and trailing white space is dropped; a minus
// sign may precede any form:
//
//	d                      10              10 days
//	hh:mm                  00:10           10 minutes
//	hh:mm:ss[.fffffff]     00:00:10.5
//	d.hh:mm[:ss[.fffffff]] 1.02:03:04
//	d:hh:mm                24:00:00        only if the first part is above 23
//	d:hh:mm:ss[.fffffff]   1:02:03:04
//
// Three readings surprise: a bare number is days, two parts are hours and
// minutes, and three parts whose first is above 23 are days, hours and minutes.
// [LooksOtherwise] finds them. Parts may have any number of leading zeros; hours
// go to 23, minutes and seconds to 59, fractions to 7 digits, the whole to about
// 10 675 199 days.
//
// A time.Duration holds only about 106 751 days. A longer span is valid here as
// it is there, and gives the longest (or most negative) Duration.
//
// Errors are of type *[TimeSpanError]. The empty text is one; configuration
// loaders take it for a missing value before they come here. Not imitated: the
// forms "hh:mm:.f" and "d.hh:mm:.f", kept in .NET for the sake of its first
// version.
func ParseTimeSpan(s string) (time.Duration, error) {
	t, err := readTimeSpan(s)
	if err != nil {
		return 0, err
	}
	return t.duration(), nil
}

// FormatTimeSpan returns the canonical form [-][d.]hh:mm:ss[.fffffff], which
// [ParseTimeSpan] reads back. Fractions below 100 ns are cut off.
func FormatTimeSpan(d time.Duration) string {
	ticks := magnitude(d) / uint64(tick)
	sign := ""
	if d < 0 && ticks > 0 {
		sign = "-"
	}
	seconds, fraction := ticks/ticksPerSecond, ticks%ticksPerSecond
	days := ""
	if n := seconds / 86400; n > 0 {
		days = strconv.FormatUint(n, 10) + "."
	}
	text := fmt.Sprintf("%s%s%02d:%02d:%02d", sign, days, seconds/3600%24, seconds/60%60, seconds%60)
	if fraction > 0 {
		text += fmt.Sprintf(".%07d", fraction)
	}
	return text
}

// LooksOtherwise reports whether s is a valid time span that most readers would
// take for something else: a bare number (days), two parts (hours and minutes),
// or three parts whose first is above 23 (days, hours, minutes). reading says in
// words what it means, such as "10 days". Zero is zero in every reading.
func LooksOtherwise(s string) (reading string, ok bool) {
	t, err := readTimeSpan(s)
	if err != nil || t.ticks == 0 {
		return "", false
	}
	switch t.form {
	case formDays, formHoursMinutes, formDaysByRange:
		return t.words(), true
	}
	return "", false
}

// form is how the parts of a time span were read.
type form uint8

const (
	formPlain        form = iota
	formDays              // d
	formHoursMinutes      // hh:mm
	formDaysByRange       // d:hh:mm, because the first part is no hour
)

type timeSpan struct {
	negative bool
	ticks    uint64
	form     form
}

// layouts lists the forms by the separators between their numbers. Each letter
// of fields says what the number at its place is.
var layouts = [...]struct {
	separators string
	fields     string
	form       form
}{
	{"", "d", formDays},
	{":", "hm", formHoursMinutes},
	{"::", "hms", formPlain},
	{"::.", "hmsf", formPlain},
	{".:", "dhm", formPlain},
	{".::", "dhms", formPlain},
	{".::.", "dhmsf", formPlain},
	{":::", "dhms", formPlain},
	{":::.", "dhmsf", formPlain},
	{"::", "dhm", formDaysByRange}, // tried when "hms" is out of range
}

func readTimeSpan(s string) (timeSpan, error) {
	text := strings.TrimSpace(s)
	if text == "" {
		return timeSpan{}, &TimeSpanError{Text: s, Reason: "it is empty"}
	}
	digits, negative := strings.CutPrefix(text, "-")
	numbers, separators, ok := split(digits)
	reason := "want [-]hh:mm:ss, with days as d.hh:mm:ss and fractions as hh:mm:ss.fffffff"
	if ok {
		first := true
		for _, l := range layouts {
			if l.separators != separators {
				continue
			}
			ticks, fault := total(numbers, l.fields, negative)
			if fault == "" {
				return timeSpan{negative: negative, ticks: ticks, form: l.form}, nil
			}
			if first { // the later reading is a fallback, not what the author meant
				reason, first = fault, false
			}
		}
	}
	return timeSpan{}, &TimeSpanError{Text: s, Reason: reason}
}

// split cuts "1.02:03" into its runs of digits and the separators between them,
// each a single character.
func split(s string) (numbers []string, separators string, ok bool) {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && '0' <= s[i] && s[i] <= '9' {
			continue
		}
		if i == start {
			return nil, "", false
		}
		numbers = append(numbers, s[start:i])
		if i < len(s) {
			separators += s[i : i+1]
		}
		start = i + 1
	}
	return numbers, separators, true
}

// total adds up the numbers by their fields and returns ticks, or what is wrong.
func total(numbers []string, fields string, negative bool) (ticks uint64, fault string) {
	for i, n := range numbers {
		switch fields[i] {
		case 'd':
			v := number(n)
			if v > maxDays {
				return 0, fmt.Sprintf("days must be 0 to %d", maxDays)
			}
			ticks += v * 86400 * ticksPerSecond
		case 'h':
			v := number(n)
			if v > 23 {
				return 0, "hours must be 0 to 23"
			}
			ticks += v * 3600 * ticksPerSecond
		case 'm':
			v := number(n)
			if v > 59 {
				return 0, "minutes must be 0 to 59"
			}
			ticks += v * 60 * ticksPerSecond
		case 's':
			v := number(n)
			if v > 59 {
				return 0, "seconds must be 0 to 59"
			}
			ticks += v * ticksPerSecond
		case 'f':
			if len(n) > fractionDigits {
				return 0, fmt.Sprintf("a fraction has at most %d digits", fractionDigits)
			}
			ticks += number(n + strings.Repeat("0", fractionDigits-len(n)))
		}
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if ticks > limit {
		return 0, "it is longer than 10675199.02:48:05.4775807"
	}
	return ticks, ""
}

// number returns the value of a run of digits, or a value above every limit.
func number(digits string) uint64 {
	v, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return v
}

func (t timeSpan) duration() time.Duration {
	if t.ticks > math.MaxInt64/uint64(tick) {
		if t.negative {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	d := time.Duration(t.ticks) * tick
	if t.negative {
		return -d
	}
	return d
}

// words spells a span out: "1 day 2 hours". Fractions do not occur in the forms
// that need words.
func (t timeSpan) words() string {
	minutes := t.ticks / ticksPerSecond / 60
	var parts []string
	for _, unit := range [...]struct {
		n    uint64
		name string
	}{{minutes / (24 * 60), "day"}, {minutes / 60 % 24, "hour"}, {minutes % 60, "minute"}} {
		if unit.n == 0 {
			continue
		}
		plural := "s"
		if unit.n == 1 {
			plural = ""
		}
		parts = append(parts, fmt.Sprintf("%d %s%s", unit.n, unit.name, plural))
	}
	text := strings.Join(parts, " ")
	if t.negative {
		return "minus " + text
	}
	return text
}

// magnitude returns |d|, also for the most negative duration.
func magnitude(d time.Duration) uint64 {
	if d < 0 {
		return -uint64(d)
	}
	return uint64(d)
}

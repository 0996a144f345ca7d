package netjson

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Date is what the reader makes of a text in the form of a date.
type Date struct {
	Time time.Time // what the clock reads, whatever its zone
	Zone string    // as it is written after the date: "Z", "+05:30", or "" without a zone
}

// String is the date in JSON.
func (d Date) String() string { return d.Time.Format("2006-01-02T15:04:05.9999999") + d.Zone }

// ErrDate is a text in the form of a date that .NET does not have. The platform takes the
// whole for broken, even where text that is no JSON would stay text.
var ErrDate = errors.New("a date lies outside the years 1 to 9999")

// The first and the last time of .NET.
var (
	firstDate = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)
)

// dateOf reads a text that the platform's JSON library takes for a date: an ISO date
// with a time to the second, or the form /Date(milliseconds)/. One with an offset becomes
// local to the zone. What it lets pass beyond ISO is let pass here. An error is ErrDate.
func dateOf(s string, zone *time.Location) (date Date, is bool, err error) {
	switch {
	case len(s) >= 9 && strings.HasPrefix(s, "/Date(") && strings.HasSuffix(s, ")/"):
		return dateOfTicks(s, zone)
	case len(s) >= 19 && len(s) <= 40 && s[10] == 'T':
		return dateOfISO(s, zone)
	}
	return Date{}, false, nil
}

// localDate makes a date of a time with an offset.
func localDate(utc time.Time, zone *time.Location) Date {
	t := utc.In(zone)
	suffix := t.Format("-07:00")
	switch {
	case t.Year() < 1:
		t = firstDate
	case t.Year() > 9999:
		t = lastDate
	}
	return Date{t, suffix}
}

// dateOfTicks reads /Date(1577934245000+0200)/. An offset says no more than that the date is
// local.
func dateOfTicks(s string, zone *time.Location) (Date, bool, error) {
	digits := s[len("/Date(") : len(s)-len(")/")]
	sign := -1
	if len(digits) > 1 {
		if sign = strings.IndexByte(digits[1:], '+'); sign < 0 {
			sign = strings.IndexByte(digits[1:], '-')
		}
	}
	local := sign >= 0
	if local {
		offset := digits[sign+2:]
		digits = digits[:sign+1]
		if _, ok := two(offset, 0); !ok {
			return Date{}, false, nil
		}
		if _, ok := two(offset, 2); !ok && len(offset) > 2 {
			return Date{}, false, nil
		}
	}
	ms, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strings.HasPrefix(digits, "+") {
		return Date{}, false, nil
	}
	t := time.UnixMilli(ms).UTC()
	switch {
	case t.Before(firstDate) || t.After(lastDate):
		return Date{}, false, ErrDate
	case local:
		return localDate(t, zone), true, nil
	}
	return Date{t, "Z"}, true, nil
}

// dateOfISO reads 2020-01-02T03:04:05.678+02:00 and its kin.
func dateOfISO(s string, zone *time.Location) (Date, bool, error) {
	var n [6]int // year to second
	for i, at := range []int{2, 5, 8, 11, 14, 17} {
		v, ok := two(s, at)
		if !ok || i > 0 && s[at-1] != "--T::"[i-1] {
			return Date{}, false, nil
		}
		n[i] = v
	}
	century, ok := two(s, 0)
	n[0] += 100 * century
	at, ns := 19, 0
	if at < len(s) && s[at] == '.' {
		at++
		digits := at
		for at < len(s) && at-digits < 7 && s[at] >= '0' && s[at] <= '9' {
			at++
		}
		fraction, err := strconv.Atoi((s[digits:at] + "0000000")[:7])
		ok = ok && err == nil && at > digits
		ns = fraction * 100
	}
	hours, days := n[3], 0
	if hours == 24 && n[4] == 0 && n[5] == 0 && ns == 0 {
		hours, days = 0, 1
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], hours, n[4], n[5], ns, time.UTC)
	if !ok || n[0] == 0 || t.Month() != time.Month(n[1]) || t.Day() != n[2] || hours > 23 || n[4] > 59 || n[5] > 59 {
		return Date{}, false, nil
	}
	if t = t.AddDate(0, 0, days); t.After(lastDate) {
		return Date{}, false, ErrDate
	}
	kind, offset, ok := offsetOf(s[at:])
	switch {
	case !ok:
		return Date{}, false, nil
	case kind == 'Z':
		return Date{t, "Z"}, true, nil
	case kind == 0:
		return Date{t, ""}, true, nil
	}
	if utc := t.Add(-offset); !utc.Before(firstDate) && !utc.After(lastDate) {
		return localDate(utc, zone), true, nil
	}
	// UTC has no such time; the library goes to the zone without it.
	_, seconds := t.In(zone).Zone()
	wall := t.Add(-offset).Add(time.Duration(seconds) * time.Second)
	switch {
	case wall.Before(firstDate):
		wall = firstDate
	case wall.After(lastDate):
		wall = lastDate
	}
	return Date{wall, t.In(zone).Format("-07:00")}, true, nil
}

// offsetOf reads what follows the time: Z, an offset, or, as the library lets it pass,
// two digits that say nothing. Kind is 'Z', '+' for an offset, 0 for neither.
func offsetOf(s string) (kind byte, offset time.Duration, ok bool) {
	at := 0
	if s == "Z" || s == "z" {
		return 'Z', 0, true
	}
	sign := time.Duration(0)
	if hours, ok := two(s, 1); ok && (s[0] == '+' || s[0] == '-') {
		if kind, sign = '+', 1; s[0] == '-' {
			sign = -1
		}
		offset = time.Duration(hours) * time.Hour
		at = 3
	}
	if at < len(s) && s[at] == ':' {
		at++
	}
	if minutes, ok := two(s, at); ok {
		offset += time.Duration(minutes) * time.Minute
		at += 2
	}
	return kind, sign * offset, at == len(s)
}

// two reads two digits at a place.
func two(s string, at int) (int, bool) {
	if at+2 > len(s) || s[at] < '0' || s[at] > '9' || s[at+1] < '0' || s[at+1] > '9' {
		return 0, false
	}
	return int(s[at]-'0')*10 + int(s[at+1]-'0'), true
}

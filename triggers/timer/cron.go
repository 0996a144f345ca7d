package timer

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cron is a parsed cron expression: the values that each field allows.
type cron struct {
	second, minute, hour, day, month, weekday set

	// interval tells interval schedules from point-in-time ones.
	interval bool
}

// set is a set of numbers from 0 to 63.
type set uint64

func (s set) has(n int) bool { return s>>n&1 != 0 }
func (s set) count() int     { return bits.OnesCount64(uint64(s)) }

// neighbours reports whether two members follow each other: the platform's library then
// writes a range, or "*" (ncron: CrontabField.cs Format).
func (s set) neighbours() bool { return s&(s>>1) != 0 }

// next returns the smallest member that is not below n, or -1.
func (s set) next(n int) int {
	rest := uint64(s) >> n << n
	if rest == 0 {
		return -1
	}
	return bits.TrailingZeros64(rest)
}

// fieldKind is one of the six fields: its bounds, and names for its values.
type fieldKind struct {
	name     string
	min, max int
	names    []string // from min on
}

var fieldKinds = [6]fieldKind{
	{name: "second", max: 59},
	{name: "minute", max: 59},
	{name: "hour", max: 23},
	{name: "day of month", min: 1, max: 31},
	{name: "month", min: 1, max: 12, names: []string{"january", "february", "march", "april", "may", "june",
		"july", "august", "september", "october", "november", "december"}},
	{name: "day of week", max: 6, names: []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}},
}

// parseCron reads five or six fields.
func parseCron(fields []string) (*cron, error) {
	c := &cron{second: 1}
	into := []*set{&c.second, &c.minute, &c.hour, &c.day, &c.month, &c.weekday}
	skipped := len(into) - len(fields)
	for i, text := range fields {
		s, err := fieldKinds[i+skipped].parse(text)
		if err != nil {
			return nil, err
		}
		*into[i+skipped] = s
	}
	c.interval = c.minute.neighbours() || c.hour.neighbours() || skipped == 0 && c.second.neighbours()
	return c, nil
}

// parse reads one field: a list of elements.
func (k fieldKind) parse(text string) (set, error) {
	var all set
	for _, element := range strings.Split(text, ",") {
		s, err := k.parseElement(element)
		if err != nil {
			return 0, fmt.Errorf("%s %q: %w", k.name, text, err)
		}
		all |= s
	}
	return all, nil
}

// parseElement reads `*`, `a` or `a-b`, each with an optional step.
func (k fieldKind) parseElement(text string) (set, error) {
	rest, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil {
			return 0, fmt.Errorf("step %q is not a number", stepText)
		}
		step = max(n, 1) // the library takes less than 1 for 1
	}
	lo, hi := k.min, k.max
	if rest != "*" {
		first, last, isRange := strings.Cut(rest, "-")
		var err error
		if lo, err = k.value(first); err != nil {
			return 0, err
		}
		switch {
		case isRange:
			if hi, err = k.value(last); err != nil {
				return 0, err
			}
			lo, hi = min(lo, hi), max(lo, hi)
		case !stepped:
			hi = lo
		}
	}
	var s set
	for n := lo; n <= hi; n += step {
		s |= 1 << n
		if step > k.max { // no second member, and no overflow
			break
		}
	}
	return s, nil
}

// quartz matches what Quartz knows besides numbers and names: L, LW, 15W, 6L, 6#2.
var quartz = regexp.MustCompile(`^(?i:LW?|\d+[LW]|\d+#\d+)$`) // read only

func errQuartz(text string) error {
	return fmt.Errorf("%q belongs to Quartz expressions: L, W and # are not known", text)
}

// value reads a number or a name.
func (k fieldKind) value(text string) (int, error) {
	if text == "?" {
		return 0, fmt.Errorf(`"?" belongs to Quartz expressions: write "*"`)
	}
	if text == "" {
		return 0, fmt.Errorf("a value is missing")
	}
	if text[0] >= '0' && text[0] <= '9' {
		n, err := strconv.Atoi(text)
		if err != nil && quartz.MatchString(text) {
			return 0, errQuartz(text)
		}
		if err != nil || n < k.min || n > k.max {
			return 0, fmt.Errorf("%q is not a number from %d to %d", text, k.min, k.max)
		}
		return n, nil
	}
	for i, name := range k.names {
		if strings.HasPrefix(name, strings.ToLower(text)) {
			return k.min + i, nil
		}
	}
	if quartz.MatchString(text) {
		return 0, errQuartz(text)
	}
	if len(k.names) > 0 {
		return 0, fmt.Errorf("%q is neither a number from %d to %d nor a name, such as %q", text, k.min, k.max, k.names[0][:3])
	}
	return 0, fmt.Errorf("%q is not a number from %d to %d", text, k.min, k.max)
}

// first returns the first match that is not before from and is before limit
// (zero: no limit). Both are wall clocks, written as times in UTC, in whole
// seconds. The search takes steps of a month, a day, an hour and so on, and ends
// with the calendar.
func (c *cron) first(from, limit time.Time) (time.Time, bool) {
	t := from
	for t.Year() <= lastYear && (limit.IsZero() || t.Before(limit)) {
		year, month, day := t.Date()
		hour, minute, second := t.Clock()
		switch {
		case !c.month.has(int(month)):
			t = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
		case !c.day.has(day) || !c.weekday.has(int(t.Weekday())):
			t = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
		case !c.hour.has(hour):
			t = time.Date(year, month, day, c.hour.nextOr(hour, 24), 0, 0, 0, time.UTC)
		case !c.minute.has(minute):
			t = time.Date(year, month, day, hour, c.minute.nextOr(minute, 60), 0, 0, time.UTC)
		case !c.second.has(second):
			t = time.Date(year, month, day, hour, minute, c.second.nextOr(second, 60), 0, time.UTC)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

// nextOr returns the smallest member that is not below n, or end, which carries
// over into the next larger unit.
func (s set) nextOr(n, end int) int {
	if m := s.next(n); m >= 0 {
		return m
	}
	return end
}

// isNever reports whether no date of any year matches: day 31 in short months.
// Days of the week cannot cause this, since every date of the calendar falls on
// each of them in time.
func (c *cron) isNever() bool {
	for month := 1; month <= 12; month++ {
		// 2000 is a leap year: each month is at its longest.
		longest := time.Date(2000, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if first := c.day.next(1); c.month.has(month) && first > 0 && first <= longest {
			return false
		}
	}
	return true
}

// everyMinute reports whether all fields but the seconds allow everything.
func (c *cron) everyMinute() bool {
	return c.minute.count() == 60 && c.hour.count() == 24 && c.day.count() == 31 &&
		c.month.count() == 12 && c.weekday.count() == 7
}

const (
	secondsOfDay = 24 * 60 * 60
	daysOfCycle  = 146_097 // 400 years, after which dates and days of the week repeat
)

// shortestGap returns the shortest time between two ticks.
func (c *cron) shortestGap() time.Duration {
	first, last, gap := -1, -1, math.MaxInt
	for h := c.hour.next(0); h >= 0; h = c.hour.next(h + 1) {
		for m := c.minute.next(0); m >= 0; m = c.minute.next(m + 1) {
			for s := c.second.next(0); s >= 0; s = c.second.next(s + 1) {
				at := (h*60+m)*60 + s
				if last >= 0 {
					gap = min(gap, at-last)
				} else {
					first = at
				}
				last = at
			}
		}
	}
	if days := c.fewestDays(); days > 0 {
		gap = min(gap, days*secondsOfDay-(last-first))
	}
	return time.Duration(gap) * time.Second
}

// fewestDays returns the smallest distance between two days that match.
func (c *cron) fewestDays() int {
	fewest, last := 0, -1
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range daysOfCycle + 366 {
		d := start.AddDate(0, 0, n)
		if !c.month.has(int(d.Month())) || !c.day.has(d.Day()) || !c.weekday.has(int(d.Weekday())) {
			continue
		}
		if last >= 0 && (fewest == 0 || n-last < fewest) {
			fewest = n - last
		}
		if last = n; fewest == 1 {
			break
		}
	}
	return fewest
}

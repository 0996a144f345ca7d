package bindings

import (
	"fmt"
	"strings"
	"time"
)

// defaultTimeFormat is what {datetime} and {sys.utcnow} use (webjobs sdk,
// BindingDataPathHelper.cs): colons would not fit into a path.
const defaultTimeFormat = "yyyy-MM-ddTHH-mm-ssK"

// standardTimeFormats are .NET's one-letter formats in the invariant culture.
var standardTimeFormats = map[byte]string{
	'd': "MM/dd/yyyy",
	'D': "dddd, dd MMMM yyyy",
	'f': "dddd, dd MMMM yyyy HH:mm",
	'F': "dddd, dd MMMM yyyy HH:mm:ss",
	'g': "MM/dd/yyyy HH:mm",
	'G': "MM/dd/yyyy HH:mm:ss",
	'm': "MMMM dd", 'M': "MMMM dd",
	'o': "yyyy-MM-ddTHH:mm:ss.fffffffK", 'O': "yyyy-MM-ddTHH:mm:ss.fffffffK",
	'r': "ddd, dd MMM yyyy HH:mm:ss 'GMT'", 'R': "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
	's': "yyyy-MM-ddTHH:mm:ss",
	't': "HH:mm",
	'T': "HH:mm:ss",
	'u': "yyyy-MM-dd HH:mm:ss'Z'",
	'U': "dddd, dd MMMM yyyy HH:mm:ss",
	'y': "yyyy MMMM", 'Y': "yyyy MMMM",
}

// formatTime writes t by a .NET date and time format string in the invariant
// culture: a standard format of one letter, or a custom one. An empty format is
// defaultTimeFormat. The time is written in UTC, so that K gives Z.
//
// Source: .NET documentation, "Custom date and time format strings".
func formatTime(t time.Time, format string) (string, error) {
	if strings.TrimSpace(format) == "" {
		format = defaultTimeFormat
	}
	if len(format) == 1 {
		long, ok := standardTimeFormats[format[0]]
		if !ok {
			return "", fmt.Errorf("date and time format %q: unknown standard format", format)
		}
		format = long
	}
	t = t.UTC()
	var b strings.Builder
	for i := 0; i < len(format); {
		c := format[i]
		switch c {
		case '\'', '"':
			end := strings.IndexByte(format[i+1:], c)
			if end < 0 {
				return "", fmt.Errorf("date and time format %q: missing closing %c", format, c)
			}
			b.WriteString(format[i+1 : i+1+end])
			i += end + 2
			continue
		case '\\', '%':
			if i+1 == len(format) || c == '%' && format[i+1] == '%' {
				return "", fmt.Errorf("date and time format %q: nothing follows %c", format, c)
			}
			if c == '\\' {
				b.WriteByte(format[i+1])
				i += 2
			} else {
				i++
			}
			continue
		}
		n := 1
		for i+n < len(format) && format[i+n] == c {
			n++
		}
		if err := appendTimeField(&b, t, c, n); err != nil {
			return "", fmt.Errorf("date and time format %q: %w", format, err)
		}
		i += n
	}
	return b.String(), nil
}

// appendTimeField writes the field that n letters c stand for, or the letters
// themselves when they stand for nothing.
func appendTimeField(b *strings.Builder, t time.Time, c byte, n int) error {
	number := func(v, width int) { fmt.Fprintf(b, "%0*d", width, v) }
	named := func(v int, name string) {
		switch {
		case n <= 2:
			number(v, n)
		case n == 3:
			b.WriteString(name[:3])
		default:
			b.WriteString(name)
		}
	}
	switch c {
	case 'd':
		named(t.Day(), t.Weekday().String())
	case 'M':
		named(int(t.Month()), t.Month().String())
	case 'y':
		if n <= 2 {
			number(t.Year()%100, n)
		} else {
			number(t.Year(), n)
		}
	case 'h':
		number((t.Hour()+11)%12+1, min(n, 2))
	case 'H':
		number(t.Hour(), min(n, 2))
	case 'm':
		number(t.Minute(), min(n, 2))
	case 's':
		number(t.Second(), min(n, 2))
	case 'f', 'F':
		return appendFraction(b, t, n, c == 'F')
	case 't':
		half := "AM"
		if t.Hour() >= 12 {
			half = "PM"
		}
		b.WriteString(half[:min(n, 2)])
	case 'K':
		b.WriteString(strings.Repeat("Z", n))
	case 'z':
		b.WriteString([]string{"+0", "+00", "+00:00"}[min(n, 3)-1])
	case 'g':
		b.WriteString("A.D.")
	default: // ':' and '/' are themselves in the invariant culture
		b.WriteString(strings.Repeat(string([]byte{c}), n))
	}
	return nil
}

// appendFraction writes n digits of a fraction of a second, trimmed without the zeros at
// their end.
func appendFraction(b *strings.Builder, t time.Time, n int, trimmed bool) error {
	if n > 7 {
		return fmt.Errorf("at most 7 digits of a second, not %d", n)
	}
	digits := fmt.Sprintf("%09d", t.Nanosecond())[:n]
	if trimmed {
		digits = strings.TrimRight(digits, "0")
		if s := b.String(); digits == "" && strings.HasSuffix(s, ".") {
			b.Reset() // a fraction of zero takes its point with it
			b.WriteString(s[:len(s)-1])
		}
	}
	b.WriteString(digits)
	return nil
}

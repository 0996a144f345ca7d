package bindings

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// mostNetInteger is the longest text of an integer that the library reads.
const mostNetInteger = 380

var (
	netInteger = regexp.MustCompile(`^-?[0-9]+$`)
	netFloat   = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// number reads a number: a zero before another digit makes it octal, 0x hexadecimal.
func (r *netReader) number() (netValue, error) {
	rest := r.s[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return strings.ContainsRune(",}])/", c) || unicode.IsSpace(c) })
	if end < 0 {
		end = len(rest)
	}
	text := rest[:end]
	r.at += end
	if strings.HasPrefix(text, "+") {
		return netValue{}, errNetJSON
	}
	if len(text) > 1 && text[0] == '0' && !strings.ContainsRune(".eE", rune(text[1])) {
		digits, base := text, 8
		if text[1] == 'x' || text[1] == 'X' {
			digits, base = text[2:], 16
		}
		n, ok := digitsIn(digits, base)
		if !ok {
			return netValue{}, errNetJSON
		}
		text = strconv.FormatInt(int64(n), 10) //nolint:gosec // the library wraps around, too
		return netValue{text: text, raw: text}, nil
	}
	if netInteger.MatchString(text) {
		n, _ := new(big.Int).SetString(text, 10)
		if len(text) > mostNetInteger {
			return netValue{}, errNetJSON
		}
		return netValue{text: n.String(), raw: n.String()}, nil
	}
	if !netFloat.MatchString(text) {
		return netValue{}, errNetJSON
	}
	f, _ := strconv.ParseFloat(text, 64) // beyond the largest number it is infinite
	text = netDouble(f)
	raw := text
	switch {
	case math.IsInf(f, 0):
		raw = `"` + text + `"`
	case !strings.ContainsAny(text, ".E"):
		raw += ".0"
	}
	return netValue{text: text, raw: raw}, nil
}

// digitsIn reads digits of a base, at most 64 bits of them.
func digitsIn(text string, base int) (uint64, bool) {
	if strings.ContainsAny(text, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}

// mostNetDigits is how many digits .NET writes before it takes an exponent.
const mostNetDigits = 17

// netDouble writes a number as .NET does in the invariant culture: the shortest text that
// reads back the same, with an exponent of at least two digits from 1E+17 up and below
// 1E-04.
func netDouble(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case math.IsNaN(v):
		return "NaN"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'E', -1, 64), "E")
	if n, err := strconv.Atoi(exponent); err != nil || n >= mostNetDigits || n < -4 {
		return mantissa + "E" + exponent
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

package netjson

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// maxInteger is the longest text of an integer that the library reads.
const maxInteger = 380

var (
	integerForm = regexp.MustCompile(`^-?[0-9]+$`)
	floatForm   = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// number reads a number, up to what may follow one.
func (r *reader) number() (any, error) {
	rest := r.s[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return strings.ContainsRune(",}])/", c) || unicode.IsSpace(c) })
	if end < 0 {
		end = len(rest)
	}
	text := rest[:end]
	r.at += end
	v, ok := numberOf(text)
	if !ok {
		return nil, fmt.Errorf("%q is no value", text)
	}
	return v, nil
}

// numberOf is the number of a text: a zero before another digit makes it octal, 0x
// hexadecimal. Beyond the largest number it is infinite.
func numberOf(text string) (any, bool) {
	if strings.HasPrefix(text, "+") {
		return nil, false
	}
	if len(text) > 1 && text[0] == '0' && !strings.ContainsRune(".eE", rune(text[1])) {
		digits, base := text, 8
		if text[1] == 'x' || text[1] == 'X' {
			digits, base = text[2:], 16
		}
		n, ok := digitsIn(digits, base)
		return int64(n), ok //nolint:gosec // the library wraps around, too
	}
	if integerForm.MatchString(text) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		n, ok := new(big.Int).SetString(text, 10)
		return n, ok && len(text) <= maxInteger
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f, floatForm.MatchString(text)
}

// digitsIn reads digits of a base, at most 64 bits of them.
func digitsIn(text string, base int) (uint64, bool) {
	if strings.ContainsAny(text, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}

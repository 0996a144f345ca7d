package schemas

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// An enum of .NET is read from words in any case, numbers and texts with numbers, also
// when no word has the number. Several with commas between them are one number.
// Source: Newtonsoft.Json's StringEnumConverter and EnumUtils; observed: host 4.1037.

// unset is keyOtherwise for a number that counts as not given.
const unset = "unset"

// numbered is the word of a whole number.
func (s *shape) numbered(text string) (word string, ok bool) {
	if len(s.numbers) == 0 {
		return "", false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return "", false
	case 0 <= n && n < int64(len(s.numbers)):
		return s.numbers[n], true
	}
	return s.otherwise, s.otherwise != ""
}

// cast is the word of a value that is no text, as .NET casts it to the enum.
func (s *shape) cast(n *node) (word string, ok bool) {
	whole, isWhole := rounded(n.text)
	switch {
	case n.kind != boolNode && !isWhole, len(s.numbers) == 0:
		return "", false
	case n.kind == boolNode && !slices.Contains(s.casts, "boolean"):
		return "", false
	case n.kind == boolNode:
		return s.numbered(map[bool]string{true: "1", false: "0"}[n.text == "true"])
	case strings.ContainsAny(n.text, ".eE") && !slices.Contains(s.casts, "fraction"):
		return "", false
	case len(s.casts) > 0: // without a look at its size
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			whole = strconv.Itoa(int(int32(n)))
		}
	}
	return s.numbered(whole)
}

// rounded is a number as .NET rounds it to a whole one: of two that are as near, the even one.
func rounded(text string) (whole string, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		return text, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if f = math.RoundToEven(f); err != nil || math.Abs(f) > math.MaxInt32 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// combined is the word of a text.
func (s *shape) combined(text string) (word string, ok bool) {
	sum := int64(0)
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n := int64(slices.IndexFunc(s.numbers, func(w string) bool { return strings.EqualFold(w, part) }))
		if n < 0 {
			var err error
			if n, err = strconv.ParseInt(part, 10, 32); err != nil {
				return "", false
			}
		}
		sum |= n
	}
	return s.numbered(strconv.FormatInt(sum, 10))
}

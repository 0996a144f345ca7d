package schemas

import (
	"slices"
	"strconv"
	"strings"
)

// An enum of .NET is read from words in any case, numbers and texts with numbers, also
// when no word has the number. Several with commas between them are one number.
// Source: Newtonsoft.Json's StringEnumConverter and EnumUtils; observed: host 4.1037.

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

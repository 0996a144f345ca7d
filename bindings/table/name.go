package table

import (
	"unicode"

	"github.com/redeliver/redeliver/bindings/storage"
)

// ValidateName checks the name of a table: 3 to 63 ASCII letters and digits, a letter
// first, and not "tables" (spec tables 3.1).
func ValidateName(name string) error {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return NewError(storage.CodeInvalidResourceName)
		}
	}
	if len(name) < 3 || len(name) > 63 {
		return storage.Errorf(storage.CodeOutOfRangeInput, "The specified resource name length is not within the permissible limits.")
	}
	if Fold(name) == "tables" {
		return NewError(storage.CodeInvalidResourceName)
	}
	return nil
}

// Fold returns a table's name in lower case: two names are one table's when they fold to
// the same.
func Fold(name string) string {
	for i := range len(name) {
		if 'A' <= name[i] && name[i] <= 'Z' {
			b := []byte(name)
			for j := i; j < len(b); j++ {
				if 'A' <= b[j] && b[j] <= 'Z' {
					b[j] |= 0x20
				}
			}
			return string(b)
		}
	}
	return name
}

// validateKey checks a partition or row key.
func validateKey(key string) error {
	for _, c := range key {
		if c == '/' || c == '\\' || c == '#' || c == '?' || unicode.IsControl(c) {
			return NewError(storage.CodeOutOfRangeInput)
		}
	}
	if Units(key) > MaxKey {
		return NewError(CodeKeyValueTooLarge)
	}
	return nil
}

// validateProperty checks the name of a property: an identifier of C#.
func validateProperty(name string) error {
	if Units(name) > MaxName {
		return NewError(CodePropertyNameTooLong)
	}
	if !Identifier(name) {
		return NewError(CodePropertyNameInvalid)
	}
	return nil
}

// Identifier reports whether a text is an identifier of C#, which names of properties are.
func Identifier(name string) bool {
	for i, c := range name {
		if !IdentifierRune(c, i == 0) {
			return false
		}
	}
	return name != ""
}

// IdentifierRune reports whether an identifier may have c, at its beginning or behind it.
func IdentifierRune(c rune, first bool) bool {
	if c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) {
		return true
	}
	return !first && (unicode.In(c, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Cf))
}

// Units is the length of a text in UTF-16 units.
func Units(s string) int {
	n := 0
	for _, c := range s {
		n++
		if c > 0xFFFF {
			n++
		}
	}
	return n
}

// CompareText orders texts by their UTF-16 units, as the service does.
func CompareText(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// In UTF-8 what takes two units begins with F0 or more. It comes before U+E000 to
		// U+FFFF, which begin with EE and EF.
		if xs, ys := x >= 0xF0, y >= 0xF0; xs != ys && x >= 0xEE && y >= 0xEE {
			x, y = y, x
		}
		if x < y {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

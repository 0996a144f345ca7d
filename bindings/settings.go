package bindings

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SettingError is a fault in a text with `%NAME%` references. Its texts are the
// platform's (webjobs sdk, NameResolverExtensions.cs).
type SettingError struct {
	Name     string // the setting that has no value; empty for an unclosed `%`
	Position int    // of the `%`, in characters, from 0
}

func (e *SettingError) Error() string {
	if e.Name == "" && e.Position >= 0 {
		return fmt.Sprintf("The '%%' at position %d does not have a closing '%%'", e.Position)
	}
	return fmt.Sprintf("'%%%s%%' does not resolve to a value.", e.Name)
}

// ResolveSettings replaces every `%NAME%` in s by the value that lookup gives
// for NAME. Values are not looked into again. The error is a *SettingError.
func ResolveSettings(s string, lookup func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	rest := s
	for {
		before, after, found := strings.Cut(rest, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, tail, closed := strings.Cut(after, "%")
		position := utf8.RuneCountInString(s[:len(s)-len(after)-1])
		if !closed {
			return "", &SettingError{Position: position}
		}
		value, ok := lookup(name)
		if !ok {
			return "", &SettingError{Name: name, Position: -1}
		}
		b.WriteString(value)
		rest = tail
	}
}

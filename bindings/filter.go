package bindings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ResolveFilter evaluates a template that is a filter of OData (spec tables 9.3). A filter
// that is one expression is its value. Where every occurrence of an expression stands in
// quotes, quotes within its value are doubled; in any other place its value must read as a
// Boolean or a number. What has no value for a name, as {rand-guid}, is as in Resolve.
//
// Source: TX, TableFilterFormatter.cs.
func (t *Template) ResolveFilter(data *BindingData) (string, error) {
	if len(t.tokens) == 1 {
		return t.Resolve(data)
	}
	var b strings.Builder
	for _, tok := range t.tokens {
		if tok.path == nil {
			b.WriteString(tok.literal)
			continue
		}
		s, err := data.evaluate(tok)
		if err != nil {
			return "", err
		}
		if key, ok := findKey(data.Values, tok.path[0]); ok {
			if s, err = t.filterValue(tok, s, data.Values[key]); err != nil {
				return "", err
			}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// filterValue is the text of a value as a part of a filter.
func (t *Template) filterValue(tok token, s string, v any) (string, error) {
	switch at := v.(type) {
	case time.Time:
		s = roundTrip(at)
	case DateTimeOffset:
		s = roundTrip(at.Time)
	}
	name := tok.path[0]
	quoted, all := 0, 0
	for _, other := range t.tokens {
		if other.path != nil && strings.EqualFold(other.path[0], name) {
			all++
		}
	}
	text, want := strings.ToLower(t.text), "'{"+strings.ToLower(name)+"}'"
	for rest := text; ; quoted++ {
		i := strings.Index(rest, want)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
	}
	if quoted >= all {
		return strings.ReplaceAll(s, "'", "''"), nil
	}
	if !plainLiteral(s) {
		return "", &ExpressionError{Expression: name, Text: fmt.Sprintf("An invalid parameter value was specified for filter parameter '%s'.", name)}
	}
	return s, nil
}

// roundTrip is the format "o" of .NET, in UTC.
func roundTrip(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000Z") }

// plainLiteral reports whether .NET reads a text as a Boolean or a number.
func plainLiteral(s string) bool {
	s = strings.TrimSpace(s)
	if strings.EqualFold(s, "true") || strings.EqualFold(s, "false") {
		return true
	}
	if s == "" || !utf8.ValidString(s) || strings.ContainsAny(s, "xXpP_iInN") {
		return false
	}
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return err == nil || strings.Contains(err.Error(), "out of range")
}

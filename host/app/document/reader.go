package document

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// Reader takes typed values out of a document whose keys match ignoring case.
// A value that is absent, null or of another type gives the default: the schema
// has its fault already.
type Reader struct {
	Doc   *schemas.Document
	Spans *[]SpanText
}

// SpanText is a time span as it was written, with its meaning when that is not
// what most readers would expect (lint L-4).
type SpanText struct {
	Fault   *schemas.Fault
	Reading string
}

// Value returns the value at path; nil for null and absent ones.
func (r Reader) Value(path string) any {
	v, _ := r.Doc.Lookup(path)
	return v
}

// Has reports whether there is a value at path; null is none.
func (r Reader) Has(path string) bool { return r.Value(path) != nil }

// HasSection reports whether there is a section of the platform's configuration: one
// without members is none.
func (r Reader) HasSection(path string) bool {
	switch v := r.Value(path).(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return v != nil
	}
}

// ScalarText returns a scalar as text, a number as it is written.
func ScalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// ConfigText returns a scalar as the platform's configuration holds it: as text, in which a
// number has lost its zeros (10.0 is "10") and a truth value has a capital ("True").
func ConfigText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return schemas.NumberText(v.String())
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	return ScalarText(v)
}

// Text returns a scalar as the platform's configuration holds it; empty text counts as absent.
func (r Reader) Text(path, def string) string {
	if s := ConfigText(r.Value(path)); s != "" {
		return s
	}
	return def
}

// Word returns the member of words that the value names ignoring case.
func (r Reader) Word(path string, words ...string) string {
	given := r.Text(path, "")
	for _, w := range words {
		if strings.EqualFold(given, w) {
			return w
		}
	}
	return words[0]
}

// Flag returns a truth value, which may stand as text.
func (r Reader) Flag(path string, def bool) bool {
	switch strings.ToLower(strings.TrimSpace(r.Text(path, ""))) {
	case "true":
		return true
	case "false":
		return false
	}
	return def
}

// Number returns a whole number of 32 bits, which may stand as text, from low to high.
func (r Reader) Number(path string, def, low, high int) int {
	n, ok := WholeNumber(r.Value(path))
	if !ok || n < low || n > high {
		return def
	}
	return n
}

// Span returns a time span from low to high.
func (r Reader) Span(path string, def, low, high time.Duration) time.Duration {
	d, ok := r.Duration(path)
	if !ok || d < low || d > high {
		return def
	}
	return d
}

// Longest is the longest time span that Go can hold.
const Longest = time.Duration(math.MaxInt64)

// Duration reads a time span and remembers it when it reads otherwise than it
// looks. The empty text counts as absent.
func (r Reader) Duration(path string) (time.Duration, bool) {
	text := r.Text(path, "")
	d, err := retrycontext.ParseTimeSpan(text)
	if err != nil {
		return 0, false
	}
	if reading, other := retrycontext.LooksOtherwise(text); other && r.Spans != nil {
		*r.Spans = append(*r.Spans, SpanText{r.Doc.Fault(path, r.Doc.Found(path), "", ""), reading})
	}
	return d, true
}

// texts are the members of an object, as text; nil when there is none.
func (r Reader) Texts(path string) map[string]string {
	object, _ := r.Value(path).(map[string]any)
	if len(object) == 0 {
		return nil
	}
	out := map[string]string{}
	for name, v := range object {
		switch v.(type) {
		case map[string]any, []any: // no value: not set
		default:
			out[name] = ConfigText(v)
		}
	}
	return out
}

// List returns the texts of a list, or of an object whose keys are indexes.
func (r Reader) List(path string) []string { return TextList(r.Value(path)) }

// TextList is [Reader.List] of a value.
func TextList(v any) []string {
	var texts []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if s := ScalarText(item); s != "" {
				texts = append(texts, s)
			}
		}
	case map[string]any:
		for _, k := range ByIndex(v) {
			if s := ScalarText(v[k]); s != "" {
				texts = append(texts, s)
			}
		}
	}
	return texts
}

// ByIndex returns the keys of an object that are indexes, in their order.
func ByIndex(v map[string]any) []string {
	index := func(k string) int { n, _ := strconv.Atoi(k); return n }
	return slices.SortedFunc(maps.Keys(v), func(a, b string) int { return index(a) - index(b) })
}

// WholeNumber converts a JSON number (3.0 is one) or a text to a 32-bit integer.
func WholeNumber(v any) (int, bool) {
	text := strings.TrimSpace(ConfigText(v))
	if _, isBool := v.(bool); isBool || text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil
}

// Member returns the value of key ignoring case: its own spelling first, else
// the last in order of spelling.
func Member(m map[string]any, key string) (name string, value any, ok bool) {
	if v, found := m[key]; found {
		return key, v, true
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if strings.EqualFold(k, key) {
			name, value, ok = k, m[k], true
		}
	}
	return name, value, ok
}

// Position copies file, line and column of the fault that doc makes at f.Path.
func Position(f *schemas.Fault, doc *schemas.Document) *schemas.Fault {
	if doc == nil || f.Line != 0 {
		return f
	}
	at := doc.Fault(f.Path, "", "", "")
	f.File, f.Line, f.Column = at.File, at.Line, at.Column
	return f
}

// InFileOrder returns the keys of an object in the order of their values in the
// file.
func InFileOrder(doc *schemas.Document, path string, object map[string]any) []string {
	type place struct{ line, column int }
	places := make(map[string]place, len(object))
	for key := range object {
		line, column := doc.Pos(schemas.JoinPath(path, key))
		places[key] = place{line, column}
	}
	return slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		pa, pb := places[a], places[b]
		return cmp.Or(pa.line-pb.line, pa.column-pb.column, strings.Compare(a, b))
	})
}

// TextOr is text, except that a given empty text counts.
func (r Reader) TextOr(path, def string) string {
	if v, ok := r.Value(path).(string); ok {
		return v
	}
	return r.Text(path, def)
}

// Look remembers how time spans read on which nothing here depends (lint L-4).
func (r Reader) Look(paths ...string) {
	for _, path := range paths {
		r.Duration(path)
	}
}

// Current returns the path below a section at which a setting stands: under its
// present name, or under the first of its older names that is set and still read.
func (r Reader) Current(section, name string) string {
	at := schemas.JoinPath(section, name)
	if strings.Contains(name, ".") {
		at = section + "." + name
	}
	if r.Text(at, "") != "" { // empty text counts as absent
		return at
	}
	for _, n := range schemas.RenamedKeys(schemas.HostJSON) {
		if old := Below(section, n.Old); n.In == section && n.New == name && n.Read && r.Text(old, "") != "" {
			return old
		}
	}
	return at
}

// Below joins paths, of which the first may be empty.
func Below(parent, path string) string {
	if parent == "" {
		return path
	}
	return parent + "." + path
}

// HasPrefixFold is strings.HasPrefix, ignoring case.
func HasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

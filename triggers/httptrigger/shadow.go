package httptrigger

import (
	"slices"
	"strings"
)

// Shadow is a route behind a wider one, which takes requests that a reader would expect at
// the narrower.
type Shadow struct {
	Function string // whose route is more specific
	By       string // which answers in its place
	Path     string // of a request that both match, e.g. "/api/items/special"
}

// Shadow reports whether the route of a function is more specific than one that is tried
// before it and takes some of its requests; the first that does.
func (r *Router) Shadow(function string) (Shadow, bool) {
	at := slices.IndexFunc(r.routes, func(c compiled) bool { return c.Function == function })
	if at < 0 {
		return Shadow{}, false
	}
	for c, i := r.routes[at], 0; i < at; i++ {
		before := r.routes[i]
		if !meet(c.Route, before.Route) || slices.Compare(c.template.rank(), before.template.rank()) >= 0 {
			continue
		}
		if path, ok := common(c.template, before.template); ok {
			return Shadow{Function: function, By: before.Function, Path: path}, true
		}
	}
	return Shadow{}, false
}

// meet reports whether two routes take a method in common.
func meet(a, b Route) bool {
	return a.Methods == nil && (b.Methods == nil || len(b.Methods) > 0) || slices.ContainsFunc(a.Methods, b.takes)
}

// common is a path that both templates match: literals of either, and values that meet
// usual constraints. One that only others meet is not found.
func common(a, b Template) (path string, ok bool) {
	var words []string
	for i := range max(len(a.segments), len(b.segments)) {
		word := a.sample(i, "")
		if b := b.sample(i, word); word == "" || !a.literal(i) && b != "" {
			word = b
		}
		if word == "" {
			break
		}
		words = append(words, word)
	}
	for ; len(words) > 0; words = words[:len(words)-1] { // the last may be optional
		_, first := a.match(words, "")
		_, second := b.match(words, "")
		if first && second {
			return "/" + strings.Join(words, "/"), true
		}
	}
	return "", false
}

// literal reports whether the i-th segment is a text.
func (t Template) literal(i int) bool {
	return i < len(t.segments) && len(t.segments[i]) == 1 && t.segments[i][0].param == nil
}

// samples are tried as values of parameters with constraints.
var samples = []string{"x", "1", "true", "2020-01-02", "00000000-0000-0000-0000-000000000000", "xxxx"} // read only

// sample is a text that the i-th segment matches, other if that does; "" beyond the end.
func (t Template) sample(i int, other string) string {
	if i >= len(t.segments) {
		if n := len(t.segments); n > 0 && t.segments[n-1][0].param != nil && t.segments[n-1][0].param.catchAll {
			return other
		}
		return ""
	}
	if t.literal(i) {
		return t.segments[i][0].literal
	}
	for _, word := range append([]string{other}, samples...) {
		values := map[string]string{}
		if word == "" || !t.segments[i].match(word, values) {
			continue
		}
		if (Template{segments: []segment{t.segments[i]}}).constrained(values) {
			return word
		}
	}
	var b strings.Builder
	for _, p := range t.segments[i] {
		b.WriteString(p.literal)
		if p.param != nil {
			b.WriteString("1")
		}
	}
	return b.String()
}

// rank returns a digit for each segment: the lower, the more specific.
func (t Template) rank() []int {
	var digits []int
	for _, s := range t.segments {
		digit := 2
		if p := s[0].param; len(s) == 1 {
			switch {
			case p == nil:
				digit = 1
			case p.catchAll:
				digit = 5
			default:
				digit = 3
			}
			if p != nil && len(p.constraints) > 0 {
				digit--
			}
		}
		digits = append(digits, digit)
	}
	return digits
}

package httptrigger

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// match matches the segments of an escaped path and returns the values of the
// parameters. end is the slash after the last segment, if there is one, which the rest of
// a path keeps.
func (t Template) match(path []string, end string) (map[string]string, bool) {
	values := map[string]string{}
	for i, s := range t.segments {
		only := s[0].param
		if len(s) > 1 {
			only = nil
		}
		switch {
		case only != nil && only.catchAll:
			rest := ""
			if i < len(path) {
				rest = Unescape(strings.Join(path[i:], "/") + end)
			}
			if rest != "" {
				values[only.name] = rest
			} else if only.hasFallback {
				values[only.name] = only.fallback
			}
			return values, t.constrained(values)
		case i < len(path):
			if !s.match(Unescape(path[i]), values) {
				return nil, false
			}
		case only != nil && only.hasFallback:
			values[only.name] = only.fallback
		case only == nil || !only.optional:
			return nil, false
		}
	}
	return values, len(path) <= len(t.segments) && t.constrained(values)
}

// constrained applies the constraints. A parameter without a value meets none,
// unless it is optional.
func (t Template) constrained(values map[string]string) bool {
	for _, s := range t.segments {
		for _, p := range s {
			if p.param == nil {
				continue
			}
			value, ok := values[p.param.name]
			if !ok && p.param.optional {
				continue
			}
			for _, c := range p.param.constraints {
				if !ok || !c(value) {
					return false
				}
			}
		}
	}
	return true
}

// match matches one segment of a path. An optional parameter at the end of a
// segment is left out together with the full stop before it.
func (s segment) match(text string, values map[string]string) bool {
	if s.matchParts(text, values) {
		return true
	}
	if n := len(s); n > 1 && s[n-1].param != nil && s[n-1].param.optional && !strings.HasSuffix(text, ".") {
		return s[:n-2].matchParts(text, values)
	}
	return false
}

// matchParts works from the right, as ASP.NET does: each literal is taken where
// it occurs last, and what is between two literals is the parameter's. There is
// no second try.
func (s segment) matchParts(text string, values map[string]string) bool {
	found := map[string]string{}
	var pending *parameter // to the right of which all is matched
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].param != nil {
			pending = s[i].param
			continue
		}
		at := len(text) - len(s[i].literal)
		if pending != nil {
			at = lastIndexFold(text, s[i].literal)
		}
		if at < 0 || !strings.EqualFold(text[at:at+len(s[i].literal)], s[i].literal) {
			return false
		}
		if pending != nil {
			found[pending.name] = text[at+len(s[i].literal):]
			pending = nil
		}
		text = text[:at]
	}
	if pending != nil {
		if text == "" {
			return false
		}
		found[pending.name], text = text, ""
	}
	if text != "" {
		return false
	}
	for name, value := range found {
		values[name] = value
	}
	return true
}

// lastIndexFold returns where literal occurs last in text, ignoring case, so that
// at least one byte follows it; else -1.
func lastIndexFold(text, literal string) int {
	for at := len(text) - len(literal) - 1; at >= 0; at-- {
		if strings.EqualFold(text[at:at+len(literal)], literal) {
			return at
		}
	}
	return -1
}

// splitPath cuts an escaped path into segments, and a slash at the end.
func splitPath(path string) (segments []string, end string) {
	path = strings.TrimPrefix(path, "/")
	if whole, ok := strings.CutSuffix(path, "/"); ok {
		path, end = whole, "/"
	}
	if path == "" {
		return nil, ""
	}
	return strings.Split(path, "/"), end
}

// Unescape decodes the escapes of a path. One of a slash stays as it is, as in ASP.NET,
// and so does one that stands for no text in UTF-8, and a broken one (Kestrel:
// UrlDecoder.cs; observed of the platform's host 4.1037).
func Unescape(path string) string {
	var b strings.Builder
	for path != "" {
		plain, _, _ := strings.Cut(path, "%")
		b.WriteString(plain)
		path = path[len(plain):]
		var octets []byte // of the escapes that follow each other
		for rest := path; len(rest) >= 3 && rest[0] == '%'; rest = rest[3:] {
			octet, err := strconv.ParseUint(rest[1:3], 16, 8)
			if err != nil {
				break
			}
			octets = append(octets, byte(octet))
		}
		if len(octets) == 0 && path != "" {
			b.WriteByte('%')
			path = path[1:]
		}
		for len(octets) > 0 {
			r, n := utf8.DecodeRune(octets)
			if r == '/' || r == utf8.RuneError && n == 1 {
				b.WriteString(path[:3])
			} else {
				b.WriteRune(r)
			}
			octets, path = octets[n:], path[3*n:]
		}
	}
	return b.String()
}

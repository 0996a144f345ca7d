package bindings

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Query returns the parameters of the request's query as functions get them: the values
// of one name are joined by commas, whatever the case of the name, which is written as it
// came first. It is read as the platform reads it: "&" alone separates parameters, and an
// escape that stands for no text in UTF-8 stays as it is, so that nothing a caller sends
// is lost (aspnetcore: QueryStringEnumerable.cs, QueryFeature.cs).
func (r *HTTPRequest) Query() map[string]string {
	out := map[string]string{}
	written := map[string]string{} // by the name in small letters
	_, query, _ := strings.Cut(r.URL, "?")
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = unescaped(name), unescaped(value)
		first, again := written[strings.ToLower(name)]
		if again {
			out[first] += "," + value
			continue
		}
		written[strings.ToLower(name)], out[name] = name, value
	}
	return out
}

// unescaped is a name or a value of a query as text.
func unescaped(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "+", " "), "\uFFFD")
	var b strings.Builder
	for s != "" {
		plain, _, _ := strings.Cut(s, "%")
		b.WriteString(plain)
		s = s[len(plain):]
		var octets []byte // of the escapes that follow each other
		for rest := s; ; rest = rest[3:] {
			octet, ok := escape(rest)
			if !ok {
				break
			}
			octets = append(octets, octet)
		}
		if len(octets) == 0 && s != "" {
			b.WriteByte('%')
			s = s[1:]
		}
		for len(octets) > 0 {
			r, n := utf8.DecodeRune(octets)
			if r == utf8.RuneError && n == 1 {
				b.WriteString(s[:3])
			} else {
				b.WriteRune(r)
			}
			octets, s = octets[n:], s[3*n:]
		}
	}
	return b.String()
}

// escape is the octet of the escape that s begins with, if it does.
func escape(s string) (octet byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(n), err == nil
}

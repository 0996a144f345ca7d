package bindings

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parameter is a parameter of a query, or a header.
type Parameter struct{ Name, Value string }

// Parameters are the parameters of a query, or the headers of a request, in their order.
type Parameters []Parameter

// MarshalJSON implements [json.Marshaler]: an object in that order.
func (ps Parameters) MarshalJSON() ([]byte, error) {
	size := len("{}")
	for _, p := range ps {
		size += len(p.Name) + len(p.Value) + len(`"":"",`)
	}
	out := append(make([]byte, 0, size), '{')
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendJSONText(append(appendJSONText(out, p.Name), ':'), p.Value)
	}
	return append(out, '}'), nil
}

// appendJSONText appends a text as package json writes it.
func appendJSONText(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			escaped, _ := json.Marshal(s) // texts have a JSON form
			return append(out, escaped...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// get returns the value of a name, ignoring case.
func (ps Parameters) get(name string) (any, bool) {
	for _, p := range ps {
		if strings.EqualFold(p.Name, name) {
			return p.Value, true
		}
	}
	return nil, false
}

// Parameters returns the parameters of the request's query in the order in which they
// came, as functions get them: the values of one name are joined by commas, whatever the
// case of the name, which is written as it came the second time, if it did. It is read as the platform reads
// it: "&" alone separates parameters, and an escape that stands for no text in UTF-8 stays
// as it is, so that nothing a caller sends is lost (aspnetcore: QueryStringEnumerable.cs,
// QueryFeature.cs).
func (r *HTTPRequest) Parameters() Parameters {
	return r.gathered(func(before, value string) string { return before + "," + value })
}

// LastParameters is Parameters with the last value of each name, as binding expressions
// see them (ext: HttpRequestExtensions.cs GetQueryParameterDictionary).
func (r *HTTPRequest) LastParameters() Parameters {
	return r.gathered(func(_, value string) string { return value })
}

// gathered has one parameter for each name.
func (r *HTTPRequest) gathered(join func(before, value string) string) (out Parameters) {
	all := r.parameters()
	if len(all) < 2 {
		return all
	}
	times := map[int]int{}
	for _, one := range all {
		i := slices.IndexFunc(out, func(p Parameter) bool { return strings.EqualFold(p.Name, one.Name) })
		if i < 0 {
			out = append(out, one)
			continue
		}
		if times[i]++; times[i] == 1 {
			out[i].Name = one.Name // the platform's dictionary takes it anew, once
		}
		out[i].Value = join(out[i].Value, one.Value)
	}
	return out
}

// Headers returns the headers of the request by the names and in the order in which
// functions see them; the values of one name are joined by commas.
func (r *HTTPRequest) Headers() (out Parameters) {
	names := r.HeaderNames
	if names == nil {
		names = slices.Sorted(maps.Keys(r.Header))
	}
	out = slices.Grow(out, len(names))
	for _, name := range names {
		out = append(out, Parameter{name, strings.Join(r.Header.Values(name), ",")})
	}
	return out
}

// Query returns Parameters by their names.
func (r *HTTPRequest) Query() map[string]string {
	out := map[string]string{}
	for _, p := range r.Parameters() {
		out[p.Name] = p.Value
	}
	return out
}

// parameters are the parameters one by one.
func (r *HTTPRequest) parameters() (out Parameters) {
	_, query, found := strings.Cut(r.URL, "?")
	if !found {
		return nil
	}
	for part := range strings.SplitSeq(query, "&") {
		if part != "" {
			name, value, _ := strings.Cut(part, "=")
			out = append(out, Parameter{unescaped(name), unescaped(value)})
		}
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

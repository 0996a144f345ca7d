package bindings

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// netKind says what a value of a JSON text is to the platform's JSON library.
type netKind uint8

const (
	netScalar netKind = iota // text and raw stand for it
	netEmpty                 // null and undefined
	netArray
	netObject
	netConstructor // new X(...)
)

// netValue is a value of a JSON text as the platform's library reads it. Its raw form is
// strict JSON: dates in ISO form, text for numbers that are not finite, null for what JSON
// does not know.
type netValue struct {
	kind    netKind
	text    string // of a scalar, as .NET writes it in the invariant culture
	raw     string
	members []netMember // of an object, in the order of the text
}

type netMember struct {
	name  string
	value netValue
}

// member finds a member: the exact spelling first, else the first in any case.
func (v *netValue) member(name string) (netValue, bool) {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value, true
		}
	}
	for i := range v.members {
		if strings.EqualFold(v.members[i].name, name) {
			return v.members[i].value, true
		}
	}
	return netValue{}, false
}

// netReader reads JSON with the rules of the platform's library (Newtonsoft.Json with its
// defaults): single quotes, names without quotes, comments, a comma at the end, undefined
// values, constructors, octal and hexadecimal numbers, numbers that are not finite; and
// texts that look like dates are dates. Its limits are the library's, too.
//
// Source: observed, the platform's host 4.1037; TestBindingDataOfThePlatform holds what it
// did with each text.
type netReader struct {
	s     string
	at    int
	depth int
	zone  *time.Location // of the machine: a date with an offset becomes local
}

var errNetJSON = errors.New("no JSON")

// mostNetDepth is how deep values may lie in each other.
const mostNetDepth = 64

// readNetObject reads a text that is one object, with blanks and comments behind it.
func readNetObject(text string, zone *time.Location) (netValue, error) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") || !strings.HasSuffix(trimmed, "}") {
		return netValue{}, errNetJSON
	}
	r := &netReader{s: trimmed, zone: zone}
	v, err := r.value()
	if err == nil {
		err = r.skip()
	}
	if err == nil && r.at < len(r.s) {
		err = errNetJSON
	}
	return v, err
}

// readNetValue reads one value.
func readNetValue(text string, zone *time.Location) (netValue, error) {
	r := &netReader{s: text, zone: zone}
	if err := r.skip(); err != nil {
		return netValue{}, err
	}
	return r.value()
}

// peek is the next byte; 0 at the end.
func (r *netReader) peek() byte {
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

// blanks passes over white space.
func (r *netReader) blanks() {
	r.at += len(r.s[r.at:]) - len(strings.TrimLeftFunc(r.s[r.at:], unicode.IsSpace))
}

// skip passes over white space and comments.
func (r *netReader) skip() error {
	for {
		r.blanks()
		rest := r.s[r.at:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errNetJSON
			}
			r.at += end + 4
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		default:
			return nil
		}
	}
}

// value reads a value. Blanks and comments before it are passed over.
func (r *netReader) value() (netValue, error) {
	switch c := r.peek(); {
	case c == '{':
		return r.object()
	case c == '[':
		r.at++
		raw, err := r.list(']')
		return netValue{kind: netArray, raw: "[" + raw + "]"}, err
	case c == '"' || c == '\'':
		s, err := r.quoted()
		if err != nil {
			return netValue{}, err
		}
		if date, is, err := netDateOf(s, r.zone); is || err != nil {
			return date, err
		}
		return netText(s), nil
	case c == ',': // a value that was left out; the comma is what follows it
		return netValue{kind: netEmpty, raw: "null"}, nil
	case strings.HasPrefix(r.s[r.at:], "new"):
		return r.constructor()
	case c == '-' && strings.HasPrefix(r.s[r.at:], "-I"), c >= 'A':
		return r.word()
	}
	return r.number()
}

// netText is a text that is no date.
func netText(s string) netValue {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text has a JSON form
	return netValue{text: s, raw: strings.TrimSuffix(b.String(), "\n")}
}

// netWords are the values that have a name.
var netWords = map[string]netValue{ // read only
	"true": {text: "True", raw: "true"}, "false": {text: "False", raw: "false"},
	"null": {kind: netEmpty, raw: "null"}, "undefined": {kind: netEmpty, raw: "null"},
	"NaN": {text: "NaN", raw: `"NaN"`}, "Infinity": {text: "Infinity", raw: `"Infinity"`}, "-Infinity": {text: "-Infinity", raw: `"-Infinity"`},
}

func (r *netReader) word() (netValue, error) {
	end := r.at + 1
	for end < len(r.s) && (r.s[end] >= 'A' && r.s[end] <= 'Z' || r.s[end] >= 'a' && r.s[end] <= 'z') {
		end++
	}
	v, known := netWords[r.s[r.at:end]]
	r.at = end
	if !known || !r.separated() {
		return v, errNetJSON
	}
	return v, nil
}

// separated reports whether a value without quotes may end here.
func (r *netReader) separated() bool {
	rest := r.s[r.at:]
	c, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || strings.ContainsRune("},])", c) || unicode.IsSpace(c) || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "//")
}

// object reads an object. Of members of one name the last counts, at the place of the first.
func (r *netReader) object() (netValue, error) {
	if r.depth++; r.depth > mostNetDepth {
		return netValue{}, errNetJSON
	}
	defer func() { r.depth-- }()
	r.at++
	v := netValue{kind: netObject}
	places := map[string]int{}
	for {
		if err := r.skip(); err != nil {
			return v, err
		}
		if r.peek() == '}' {
			r.at++
			break
		}
		name, err := r.name()
		if err != nil {
			return v, err
		}
		if r.blanks(); r.peek() != ':' {
			return v, errNetJSON
		}
		r.at++
		value, err := r.next()
		if err != nil {
			return v, err
		}
		if at, again := places[name]; again {
			v.members[at].value = value
		} else {
			places[name] = len(v.members)
			v.members = append(v.members, netMember{name, value})
		}
		if err := r.behind('}'); err != nil {
			return v, err
		}
	}
	var raw strings.Builder
	for i, m := range v.members {
		if i > 0 {
			raw.WriteByte(',')
		}
		raw.WriteString(netText(m.name).raw + ":" + m.value.raw)
	}
	v.raw = "{" + raw.String() + "}"
	return v, nil
}

// name reads the name of a member.
func (r *netReader) name() (string, error) {
	if c := r.peek(); c == '"' || c == '\'' {
		return r.quoted()
	}
	rest := r.s[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$' })
	if end <= 0 {
		return "", errNetJSON
	}
	r.at += end
	return rest[:end], nil
}

// next reads the value behind a colon or in a list.
func (r *netReader) next() (netValue, error) {
	if err := r.skip(); err != nil {
		return netValue{}, err
	}
	return r.value()
}

// behind passes over what stands behind a value: a comma, or nothing before the end.
func (r *netReader) behind(end byte) error {
	if err := r.skip(); err != nil {
		return err
	}
	switch r.peek() {
	case ',':
		r.at++
	case end:
	default:
		return errNetJSON
	}
	return nil
}

// list reads values up to the end of an array or of a constructor, which has begun.
func (r *netReader) list(end byte) (raw string, err error) {
	if r.depth++; r.depth > mostNetDepth {
		return "", errNetJSON
	}
	defer func() { r.depth-- }()
	var list []string
	for {
		if err := r.skip(); err != nil {
			return "", err
		}
		if r.peek() == end {
			r.at++
			return strings.Join(list, ","), nil
		}
		v, err := r.next()
		if err == nil {
			err = r.behind(end)
		}
		if err != nil {
			return "", err
		}
		list = append(list, v.raw)
	}
}

// constructor reads a call of a constructor, as JavaScript has them.
func (r *netReader) constructor() (netValue, error) {
	r.at += len("new")
	before := r.at
	if r.blanks(); r.at == before {
		return netValue{}, errNetJSON
	}
	if _, err := r.name(); err != nil {
		return netValue{}, err
	}
	if r.blanks(); r.peek() != '(' {
		return netValue{}, errNetJSON
	}
	r.at++
	_, err := r.list(')')
	return netValue{kind: netConstructor, raw: "null"}, err
}

// quoted reads a text in quotes of either kind. A half of a surrogate pair is U+FFFD.
func (r *netReader) quoted() (string, error) {
	quote := r.peek()
	r.at++
	var b strings.Builder
	for {
		end := strings.IndexAny(r.s[r.at:], `\`+string(rune(quote)))
		if end < 0 {
			return "", errNetJSON
		}
		b.WriteString(r.s[r.at : r.at+end])
		if r.at += end + 1; r.s[r.at-1] == quote {
			return b.String(), nil
		}
		c := r.peek()
		r.at++
		switch c {
		case 'b', 't', 'n', 'f', 'r':
			b.WriteByte("\b\t\n\f\r"[strings.IndexByte("btnfr", c)])
		case '"', '\'', '\\', '/':
			b.WriteByte(c)
		case 'u':
			first, ok := r.unit()
			if !ok {
				return "", errNetJSON
			}
			if mark := r.at; utf16.IsSurrogate(first) && strings.HasPrefix(r.s[mark:], `\u`) {
				r.at += 2
				second, ok := r.unit()
				if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
					b.WriteRune(pair)
					continue
				}
				r.at = mark
			}
			b.WriteRune(first) // U+FFFD for a half
		default:
			return "", errNetJSON
		}
	}
}

// unit reads four hexadecimal digits.
func (r *netReader) unit() (rune, bool) {
	if r.at+4 > len(r.s) {
		return 0, false
	}
	n, ok := digitsIn(r.s[r.at:r.at+4], 16)
	r.at += 4
	return rune(n), ok
}

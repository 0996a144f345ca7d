package netjson

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep values may lie in each other (Newtonsoft.Json 13: MaxDepth).
const maxDepth = 64

// Parse reads one value. Text in the form of a date becomes a [Date], and one with an offset
// goes into the zone dates, which is that of the machine for the host; nil: such text stays
// text.
//
// Beside JSON it takes what the platform's reader takes: single quotes, names without
// quotes, comments, a comma after the last element, values left out before a comma,
// undefined, calls of constructors, NaN and Infinity, numbers with leading zeros, which are
// octal, and hexadecimal ones. Blank text is nil.
func Parse(text string, dates *time.Location) (any, error) {
	r := &reader{s: text, dates: dates}
	if err := r.skip(); err != nil || r.at == len(r.s) {
		return nil, err
	}
	v, err := r.value()
	if err == nil {
		err = r.skip()
	}
	switch {
	case err != nil:
		return nil, err
	case r.at < len(r.s):
		return nil, errors.New("there is more text after the value")
	}
	return v, nil
}

type reader struct {
	s     string
	at    int
	depth int
	dates *time.Location
}

// peek is the next byte; 0 at the end.
func (r *reader) peek() byte {
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

// blanks passes over white space.
func (r *reader) blanks() {
	r.at += len(r.s[r.at:]) - len(strings.TrimLeftFunc(r.s[r.at:], unicode.IsSpace))
}

// skip passes over white space and comments.
func (r *reader) skip() error {
	for {
		r.blanks()
		rest := r.s[r.at:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errors.New("a comment has no end")
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

func (r *reader) value() (any, error) {
	if r.at == len(r.s) {
		return nil, errors.New("the text ends where a value should be")
	}
	switch c := r.peek(); {
	case c == '{':
		return r.object()
	case c == '[':
		r.at++
		return r.list(']')
	case c == '"' || c == '\'':
		text, err := r.quoted()
		if err != nil || r.dates == nil {
			return text, err
		}
		if d, is, err := dateOf(text, r.dates); is || err != nil {
			return d, err
		}
		return text, nil
	case c == ',': // a value that was left out; the comma is what follows it
		return Undefined{}, nil
	case strings.HasPrefix(r.s[r.at:], "new"):
		return r.constructor()
	case c == '-' && strings.HasPrefix(r.s[r.at:], "-I"), c >= 'A':
		return r.word()
	}
	return r.number()
}

// words are the values that have a name.
var words = map[string]any{ // read only
	"true": true, "false": false, "null": nil, "undefined": Undefined{},
	"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
}

func (r *reader) word() (any, error) {
	end := r.at + 1
	for end < len(r.s) && (r.s[end] >= 'A' && r.s[end] <= 'Z' || r.s[end] >= 'a' && r.s[end] <= 'z') {
		end++
	}
	word := r.s[r.at:end]
	v, known := words[word]
	r.at = end
	if !known || !r.separated() {
		return nil, fmt.Errorf("%q is no value", word)
	}
	return v, nil
}

// separated reports whether a value without quotes may end here.
func (r *reader) separated() bool {
	rest := r.s[r.at:]
	c, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || strings.ContainsRune("},])", c) || unicode.IsSpace(c) || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "//")
}

// deeper enters a value that holds others.
func (r *reader) deeper() error {
	if r.depth++; r.depth > maxDepth {
		return fmt.Errorf("values lie in each other more than %d deep", maxDepth)
	}
	return nil
}

// object reads an object. Of members of one name the last counts, at its place.
func (r *reader) object() (any, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	r.at++
	o, last := &Object{}, map[string]int{}
	for {
		if err := r.skip(); err != nil {
			return nil, err
		}
		if r.peek() == '}' {
			r.at++
			if len(last) < len(o.Members) {
				o.Members = slices.DeleteFunc(o.Members, superseded(last))
			}
			return o, nil
		}
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		if r.blanks(); r.peek() != ':' {
			return nil, fmt.Errorf("no colon follows the name %q", name)
		}
		r.at++
		v, err := r.next('}')
		if err != nil {
			return nil, err
		}
		last[name] = len(o.Members)
		o.Members = append(o.Members, Member{name, v})
	}
}

// superseded reports of members in their order whether another of the name comes after.
func superseded(last map[string]int) func(Member) bool {
	at := -1
	return func(m Member) bool {
		at++
		return last[m.Name] != at
	}
}

// name is the name of a member: quoted, or letters, digits, "_" and "$".
func (r *reader) name() (string, error) {
	if c := r.peek(); c == '"' || c == '\'' {
		return r.quoted()
	}
	rest := r.s[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$' })
	if end < 0 {
		return "", errors.New("an object has no end")
	}
	if end == 0 {
		return "", errors.New("a member has no name")
	}
	r.at += end
	return rest[:end], nil
}

// next reads a value behind a colon or in a list, and the comma behind it. Without one the
// end of what holds the value follows.
func (r *reader) next(end byte) (any, error) {
	if err := r.skip(); err != nil {
		return nil, err
	}
	v, err := r.value()
	if err == nil {
		err = r.skip()
	}
	if err != nil {
		return nil, err
	}
	switch r.peek() {
	case ',':
		r.at++
	case end:
	default:
		return nil, fmt.Errorf("neither a comma nor %q follows a value", end)
	}
	return v, nil
}

// list reads values up to the end of an array or of a constructor, which has begun.
func (r *reader) list(end byte) ([]any, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	list := []any{}
	for {
		if err := r.skip(); err != nil {
			return nil, err
		}
		if r.peek() == end {
			r.at++
			return list, nil
		}
		v, err := r.next(end)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (r *reader) constructor() (any, error) {
	r.at += len("new")
	before := r.at
	if r.blanks(); r.at == before {
		return nil, errors.New(`"new" is no value`)
	}
	name, err := r.name()
	if err != nil {
		return nil, err
	}
	if r.blanks(); r.peek() != '(' {
		return nil, fmt.Errorf(`no "(" follows "new %s"`, name)
	}
	r.at++
	arguments, err := r.list(')')
	return &Constructor{name, arguments}, err
}

// quoted reads a text in quotes of either kind. A half of a surrogate pair is U+FFFD.
func (r *reader) quoted() (string, error) {
	stops := `\` + string(rune(r.peek()))
	r.at++
	var b strings.Builder
	for {
		end := strings.IndexAny(r.s[r.at:], stops)
		if end < 0 {
			return "", errors.New("a text has no end")
		}
		b.WriteString(r.s[r.at : r.at+end])
		if r.at += end + 1; r.s[r.at-1] == stops[1] {
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
			c, ok := r.escaped()
			if !ok {
				return "", errNoEscape
			}
			b.WriteRune(c)
		default:
			return "", errNoEscape
		}
	}
}

var errNoEscape = errors.New("a text has an escape that is none")

// escaped reads what follows \u: four digits, or a pair of them for a surrogate pair.
func (r *reader) escaped() (rune, bool) {
	first, ok := r.unit()
	if mark := r.at; ok && utf16.IsSurrogate(first) && strings.HasPrefix(r.s[mark:], `\u`) {
		r.at += 2
		second, ok := r.unit()
		if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
			return pair, true
		}
		r.at = mark
	}
	return first, ok
}

// unit reads four hexadecimal digits.
func (r *reader) unit() (rune, bool) {
	if r.at+4 > len(r.s) {
		return 0, false
	}
	n, ok := digitsIn(r.s[r.at:r.at+4], 16)
	r.at += 4
	return rune(n), ok
}

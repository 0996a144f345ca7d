package netjson

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Object is a JSON object. Its members stand in the order of the text; one that comes
// again takes the place of the first.
type Object struct{ Members []Member }

// Member is a member of an object.
type Member struct {
	Name  string
	Value any
}

// Get returns the member of that name: the first that has it in any case.
func (o *Object) Get(name string) (any, bool) {
	for _, m := range o.Members {
		if strings.EqualFold(m.Name, name) {
			return m.Value, true
		}
	}
	return nil, false
}

func (o *Object) set(name string, value any) {
	for i := range o.Members {
		if o.Members[i].Name == name {
			o.Members[i].Value = value
			return
		}
	}
	o.Members = append(o.Members, Member{name, value})
}

// maxDepth is how deep values may lie in each other (Newtonsoft.Json 13: MaxDepth).
const maxDepth = 64

// Parse reads one value. Text in the form of a date becomes a [Date] if dates is set.
// Beside JSON it takes what the platform's reader takes: single quotes, names without
// quotes, comments, a comma after the last element, NaN and Infinity, numbers with leading
// zeros, which are octal, and hexadecimal ones. Blank text is nil.
func Parse(text string, dates bool) (any, error) {
	p := &parser{rest: text, dates: dates}
	if err := p.space(); err != nil || p.rest == "" {
		return nil, err
	}
	v, err := p.value(1)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, errors.New("there is more text after the value")
	}
	return v, nil
}

type parser struct {
	rest  string
	dates bool
}

// space skips blanks and comments.
func (p *parser) space() error {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\u00a0\ufeff")
		switch {
		case strings.HasPrefix(p.rest, "//"):
			end := strings.IndexAny(p.rest, "\r\n")
			if end < 0 {
				end = len(p.rest)
			}
			p.rest = p.rest[end:]
		case strings.HasPrefix(p.rest, "/*"):
			_, after, ended := strings.Cut(p.rest[2:], "*/")
			if !ended {
				return errors.New("a comment has no end")
			}
			p.rest = after
		default:
			return nil
		}
	}
}

// next skips space and reports whether c follows, which it takes.
func (p *parser) next(c byte) (bool, error) {
	if err := p.space(); err != nil {
		return false, err
	}
	if p.rest == "" || p.rest[0] != c {
		return false, nil
	}
	p.rest = p.rest[1:]
	return true, nil
}

func (p *parser) value(depth int) (any, error) {
	if p.rest == "" {
		return nil, errors.New("the text ends where a value should be")
	}
	switch c := p.rest[0]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"', '\'':
		text, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if p.dates {
			if d, ok := parseDate(text); ok {
				return d, nil
			}
		}
		return text, nil
	}
	return p.word()
}

func (p *parser) object(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values lie in each other more than %d deep", maxDepth)
	}
	p.rest = p.rest[1:]
	o := &Object{}
	for {
		if closed, err := p.next('}'); closed || err != nil {
			return o, err
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if colon, err := p.next(':'); err != nil || !colon {
			return nil, errors.Join(fmt.Errorf("no colon follows the name %q", name), err)
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.set(name, v)
		if comma, err := p.next(','); err != nil {
			return nil, err
		} else if !comma {
			if closed, err := p.next('}'); err != nil || !closed {
				return nil, errors.Join(errors.New("an object has no end"), err)
			}
			return o, nil
		}
	}
}

// name is the name of a member: quoted, or letters, digits, "_" and "$".
func (p *parser) name() (string, error) {
	if p.rest != "" && (p.rest[0] == '"' || p.rest[0] == '\'') {
		return p.quoted()
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool { return !isNameRune(r) })
	if end <= 0 {
		return "", errors.New("a member has no name")
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name, nil
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}

func (p *parser) array(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values lie in each other more than %d deep", maxDepth)
	}
	p.rest = p.rest[1:]
	list := []any{}
	for {
		if closed, err := p.next(']'); closed || err != nil {
			return list, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if comma, err := p.next(','); err != nil {
			return nil, err
		} else if !comma {
			if closed, err := p.next(']'); err != nil || !closed {
				return nil, errors.Join(errors.New("an array has no end"), err)
			}
			return list, nil
		}
	}
}

var escapes = map[byte]byte{ // read only
	'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r', '\\': '\\', '"': '"', '\'': '\'', '/': '/',
}

func (p *parser) quoted() (string, error) {
	quote := p.rest[0]
	var b strings.Builder
	for rest := p.rest[1:]; rest != ""; {
		switch c := rest[0]; {
		case c == quote:
			p.rest = rest[1:]
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
			rest = rest[1:]
		case len(rest) > 1 && escapes[rest[1]] != 0:
			b.WriteByte(escapes[rest[1]])
			rest = rest[2:]
		default:
			r, after, err := unicodeEscape(rest)
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			rest = after
		}
	}
	return "", errors.New("a text has no end")
}

// unicodeEscape reads \uXXXX, two of them for a surrogate pair.
func unicodeEscape(text string) (r rune, rest string, err error) {
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(text)
	if !ok {
		return 0, "", errors.New("a text has an escape that is none")
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unit(text[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return utf16.DecodeRune(r, low), text[12:], nil
		}
	}
	return r, text[6:], nil
}

var words = map[string]any{ // read only
	"true": true, "false": false, "null": nil, "undefined": nil,
	"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
}

// word reads a word or a number, up to what separates values.
func (p *parser) word() (any, error) {
	end := strings.IndexAny(p.rest, " \t\r\n,:]}/\"'[{")
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	v, known := words[text]
	if !known {
		var ok bool
		if v, ok = number(text); !ok {
			return nil, fmt.Errorf("%q is no value", text)
		}
	}
	p.rest = p.rest[end:]
	return v, nil
}

func number(text string) (any, bool) {
	if text == "" || text[0] == '+' || strings.Trim(text, "0123456789+-.abcdefABCDEFxX") != "" {
		return nil, false
	}
	if len(text) > 1 && text[0] == '0' && !strings.ContainsRune(".eE", rune(text[1])) {
		digits, base := text, 8
		if text[1] == 'x' || text[1] == 'X' {
			digits, base = text[2:], 16
		}
		n, err := strconv.ParseUint(digits, base, 64)
		return int64(n), err == nil // as in .NET: the bits of a signed number
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return n, true
	}
	if strings.ContainsAny(text, "xX") {
		return nil, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, false
	}
	return f, true
}

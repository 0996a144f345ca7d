package schemas

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of what [Parse] reads.
const (
	MaxSize  = 4 << 20 // bytes in a file
	MaxDepth = 64      // objects and lists inside each other, as on the platform
)

const longestNumber = 64 // characters; the platform's numbers have 64 bits

// Parse reads a JSON text leniently. Over strict JSON it accepts what the
// platform's parser (Newtonsoft.Json with its defaults) accepts and people use:
//
//   - comments, // and /* */
//   - a comma after the last member or item
//   - strings and names in single quotes, names without quotes
//   - a byte order mark; UTF-16 text that begins with one
//   - a key more than once, where the last one counts
//
// It does not accept the platform's oddities: NaN and Infinity, hexadecimal and
// octal numbers, empty items, line ends inside strings.
//
// file is the name that faults show. The fault is the first thing that cannot be
// read: text that is not UTF-8, larger than [MaxSize], nested deeper than
// [MaxDepth], or not JSON. Its kind is [KindFormat] for host.json and [KindJSON]
// for other files, as on the platform.
func Parse(file string, text []byte) (*Document, *Fault) {
	p := &parser{d: &Document{file: file}, kind: KindJSON}
	if strings.EqualFold(path.Base(file), "host.json") {
		p.kind = KindFormat
	}
	p.load(text)
	p.d.lines = lineStarts(p.d.text)
	if p.fault == nil {
		p.d.root = p.document()
	}
	if p.fault != nil {
		return nil, p.fault
	}
	return p.d, nil
}

// A parser stops at its first fault: every method returns at once when there is
// one.
type parser struct {
	d     *Document
	i     int // offset of the next byte
	depth int
	kind  Kind
	fault *Fault
}

func (p *parser) load(text []byte) {
	if len(text) > MaxSize {
		p.d.lines = []int{0}
		p.fail(0, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d bytes", MaxSize), "the file is too large")
		return
	}
	if s, ok := decodeUTF16(text); ok {
		p.d.text = s
		return
	}
	s := strings.TrimPrefix(string(text), "\ufeff")
	p.d.text = s
	if utf8.ValidString(s) {
		return
	}
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			p.d.lines = lineStarts(s)
			p.fail(i, fmt.Sprintf("byte 0x%02x", s[i]), "text in UTF-8", "the file is not text in UTF-8")
			p.fault.Hint = "save the file as UTF-8"
			return
		}
	}
}

// decodeUTF16 reads text that begins with a UTF-16 byte order mark.
func decodeUTF16(b []byte) (string, bool) {
	if len(b) < 2 || len(b)%2 != 0 {
		return "", false
	}
	high := -1
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
		high = 1
	case b[0] == 0xfe && b[1] == 0xff:
		high = 0
	default:
		return "", false
	}
	units := make([]uint16, 0, len(b)/2-1)
	for i := 2; i < len(b); i += 2 {
		units = append(units, uint16(b[i+high])<<8|uint16(b[i+1-high]))
	}
	return string(utf16.Decode(units)), true
}

func (p *parser) fail(offset int, found, allowed, reason string) {
	if p.fault != nil {
		return
	}
	p.fault = &Fault{File: p.d.file, Found: found, Allowed: allowed, Reason: reason, Kind: p.kind, First: true}
	p.fault.Line, p.fault.Column = p.d.lineColumn(offset)
}

// expected reports that something else stands at the next byte.
func (p *parser) expected(allowed string) {
	if p.fault == nil {
		p.fail(p.i, p.here(), allowed, "not valid JSON")
	}
}

// here names what stands at the next byte.
func (p *parser) here() string {
	rest := p.d.text[p.i:]
	if rest == "" {
		return "the end of the file"
	}
	if word := wordAt(rest); word != "" {
		return Quote(word)
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return Quote(string(r))
}

func wordAt(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$+-.", r)
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

func (p *parser) document() *node {
	p.space()
	if p.i == len(p.d.text) {
		p.fail(p.i, "", "a JSON object", "the file is empty")
	}
	n := p.value(slot{})
	p.space()
	if p.fault == nil && p.i < len(p.d.text) {
		p.expected("nothing after the end of the JSON text")
	}
	return n
}

// space skips white space and comments.
func (p *parser) space() {
	for p.fault == nil && p.i < len(p.d.text) {
		rest := p.d.text[p.i:]
		switch r, size := utf8.DecodeRuneInString(rest); {
		case unicode.IsSpace(r):
			p.i += size
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			p.i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				p.fail(p.i, `"/*"`, `"*/" after it`, "a comment is not closed")
				return
			}
			p.i += end + 4
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.fault != nil || p.i == len(p.d.text) {
		return 0
	}
	return p.d.text[p.i]
}

// A slot is where a value is expected.
type slot struct {
	key    string
	member bool  // the value of key
	list   *node // an item of it
}

func (p *parser) expectedIn(at slot) {
	switch {
	case at.member:
		p.expected("a value for " + Quote(at.key))
	case at.list != nil:
		p.expected(`a value or "]"` + p.toClose(at.list, "list"))
	default:
		p.expected("a value")
	}
}

// value reads one value. It never returns nil.
func (p *parser) value(at slot) *node {
	p.space()
	n := &node{offset: p.i}
	switch c := p.peek(); {
	case p.fault != nil:
	case c == '{', c == '[':
		p.nested(n, c)
	case c == '"', c == '\'':
		n.kind, n.text = stringNode, p.quoted(c)
	case c == '-', '0' <= c && c <= '9':
		n.kind, n.text = numberNode, p.number()
	default:
		p.literal(n, at)
	}
	return n
}

func (p *parser) nested(n *node, open byte) {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.i, Quote(string(open)), fmt.Sprintf("at most %d levels", MaxDepth), "the text is nested too deeply")
		return
	}
	p.i++
	if open == '{' {
		n.kind = objectNode
		p.object(n)
	} else {
		n.kind = arrayNode
		p.array(n)
	}
	p.depth--
}

func (p *parser) object(n *node) {
	for p.fault == nil {
		p.space()
		if p.peek() == '}' {
			p.i++
			return
		}
		key, ok := p.name()
		if !ok {
			p.expected(`a property name or "}"` + p.toClose(n, "object"))
			return
		}
		p.space()
		if p.fault == nil && p.peek() != ':' {
			p.expected(`":" after the property name ` + Quote(key))
			return
		}
		p.i++
		value := p.value(slot{key: key, member: true})
		n.members = append(n.members, member{key: key, value: value})
		if !p.more('}') {
			p.expected(`"," or "}"` + p.toClose(n, "object"))
			return
		}
	}
}

func (p *parser) array(n *node) {
	for p.fault == nil {
		p.space()
		if p.peek() == ']' {
			p.i++
			return
		}
		n.items = append(n.items, p.value(slot{list: n}))
		if !p.more(']') {
			p.expected(`"," or "]"` + p.toClose(n, "list"))
			return
		}
	}
}

// more skips the comma after a member or item; it is content with a closing
// bracket, which it leaves, and with an earlier fault.
func (p *parser) more(closing byte) bool {
	p.space()
	switch p.peek() {
	case ',':
		p.i++
	case closing:
	default:
		return p.fault != nil
	}
	return true
}

// toClose adds where an object or list began, if the file ends inside it.
func (p *parser) toClose(n *node, what string) string {
	if p.i < len(p.d.text) {
		return ""
	}
	line, col := p.d.lineColumn(n.offset)
	return fmt.Sprintf(" to close the %s that begins at %d:%d", what, line, col)
}

// name reads a property name.
func (p *parser) name() (string, bool) {
	c := p.peek()
	if c == '"' || c == '\'' {
		return p.quoted(c), true
	}
	if p.fault != nil {
		return "", true
	}
	rest := p.d.text[p.i:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$'
	})
	if end < 0 {
		end = len(rest)
	}
	p.i += end
	return rest[:end], end > 0
}

func (p *parser) literal(n *node, at slot) {
	word := wordAt(p.d.text[p.i:])
	switch word {
	case "null":
		n.kind = nullNode
	case "true", "false":
		n.kind, n.text = boolNode, word
	default:
		if p.fault != nil {
			return
		}
		if p.expectedIn(at); word != "" {
			p.fault.Hint = "put text in double quotes; true, false and null are written in lower case"
		}
		return
	}
	p.i += len(word)
}

// number reads a number of strict JSON.
func (p *parser) number() string {
	word := wordAt(p.d.text[p.i:])
	if !validNumber(word) {
		p.fail(p.i, Quote(word), "digits, with or without a point and an exponent, such as 5, -1 or 0.8", "not a number")
		return ""
	}
	p.i += len(word)
	return word
}

func validNumber(s string) bool {
	if len(s) > longestNumber {
		return false
	}
	rest := strings.TrimPrefix(s, "-")
	whole, rest := digits(rest)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		fraction := ""
		if fraction, rest = digits(after); fraction == "" {
			return false
		}
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	// Numbers beyond the range of a float have no meaning, and big exponents make
	// exact arithmetic expensive.
	_, err := strconv.ParseFloat(s, 64)
	exponent, atoiErr := strconv.Atoi(rest[1:])
	return err == nil && atoiErr == nil && -400 < exponent && exponent < 400
}

func digits(s string) (run, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || '9' < r })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// quoted reads a string that begins with the given quote.
func (p *parser) quoted(quote byte) string {
	text, start := p.d.text, p.i
	p.i++
	var b strings.Builder
	for {
		end := strings.IndexAny(text[p.i:], string([]byte{quote, '\\', '\r', '\n'}))
		if end < 0 {
			end = len(text) - p.i
		}
		if p.i+end == len(text) || text[p.i+end] == '\r' || text[p.i+end] == '\n' {
			p.fail(start, Quote(text[start:p.i+end]), "a closing quote on the same line", "not valid JSON: a string is not closed")
			return ""
		}
		b.WriteString(text[p.i : p.i+end])
		p.i += end
		if text[p.i] == quote {
			p.i++
			return b.String()
		}
		if !p.escape(&b) {
			return ""
		}
	}
}

func (p *parser) escape(b *strings.Builder) bool {
	const simple = `"'\/bfnrt`
	const meaning = "\"'\\/\b\f\n\r\t"
	rest := p.d.text[p.i:]
	if len(rest) > 1 {
		if k := strings.IndexByte(simple, rest[1]); k >= 0 {
			b.WriteByte(meaning[k])
			p.i += 2
			return true
		}
	}
	unit, ok := unicodeEscape(rest)
	if !ok {
		p.fail(p.i, Quote(firstRunes(rest, 2)), `\" \' \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`, "not valid JSON: unknown escape in a string")
		p.fault.Hint = `write \\ for a backslash`
		return false
	}
	p.i += 6
	if utf16.IsSurrogate(unit) {
		second, _ := unicodeEscape(p.d.text[p.i:])
		if unit = utf16.DecodeRune(unit, second); unit != unicode.ReplacementChar {
			p.i += 6
		}
	}
	b.WriteRune(unit)
	return true
}

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(v), err == nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

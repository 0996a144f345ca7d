package blobs

import (
	"fmt"
	"regexp"
	"strings"
)

// tagQuery is an expression over the tags of a blob: a condition of a request, or
// what blobs are looked for by.
//
// Grammar, from the weakest: or, and, then a comparison or an expression in
// parentheses. A comparison is a key, one of = <> > >= < <=, and a value in single
// quotes. A key with more than letters, digits and underscores stands in double
// quotes. Comparisons are of texts.
//
// Source: docs, Find Blobs by Tags, "Constructing a search expression"; Specifying
// conditional headers, "x-ms-if-tags"; Azurite: QueryParser.ts.
type tagQuery struct {
	holds func(tags map[string]string, container string) bool
	keys  []string // that are compared, except @container

	// Of a search: what must hold of each key, of which all must.
	tests map[string][]tagBound
}

// tagBound is one comparison of a search.
type tagBound struct{ operator, value string }

// errTagQuery says where an expression is wrong.
type errTagQuery struct {
	at   int
	text string
}

func (e *errTagQuery) Error() string {
	if e.at < 0 {
		return "Error parsing query: " + e.text
	}
	return fmt.Sprintf("Error parsing query at or near character position %d: %s", e.at+1, e.text)
}

const (
	maxTagKey    = 128
	maxTagValue  = 256
	maxTags      = 10 // of a blob, and in an expression to find some
	maxTagNested = 100
)

var (
	plainTagKey = regexp.MustCompile(`^[A-Za-z0-9_]+`)
	tagText     = regexp.MustCompile(`^[A-Za-z0-9 +\-./:=_]*$`)
)

// parseTagQuery reads an expression. One to find blobs by knows @container, and
// neither or nor <>.
func parseTagQuery(text string, find bool) (*tagQuery, error) {
	p := &tagParser{text: text, find: find, compared: map[string]string{}, tests: map[string][]tagBound{}}
	holds := p.or(0)
	p.blanks()
	if p.err == nil && p.at < len(text) {
		p.fail(fmt.Sprintf("unexpected '%s'", text[p.at:]))
	}
	if p.err != nil {
		return nil, p.err
	}
	return &tagQuery{holds: holds, keys: p.keys, tests: p.tests}, nil
}

type tagTest = func(tags map[string]string, container string) bool

type tagParser struct {
	text     string
	at       int
	find     bool
	keys     []string
	compared map[string]string // the sides on which a key is bounded
	tests    map[string][]tagBound
	err      error // the first one
}

func (p *tagParser) fail(text string) {
	if p.err == nil {
		p.err = &errTagQuery{p.at, text}
	}
}

func (p *tagParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// word takes a word in any case. One that goes on is another.
func (p *tagParser) word(w string) bool {
	p.blanks()
	if !strings.EqualFold(plainTagKey.FindString(p.text[p.at:]), w) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *tagParser) parenthesis(c byte) bool {
	p.blanks()
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *tagParser) or(depth int) tagTest {
	left := p.and(depth)
	for p.err == nil && p.word("or") {
		if p.find {
			p.fail("unexpected or")
		}
		a, b := left, p.and(depth)
		left = func(tags map[string]string, container string) bool { return a(tags, container) || b(tags, container) }
	}
	return left
}

func (p *tagParser) and(depth int) tagTest {
	all := []tagTest{p.one(depth)}
	for p.err == nil && p.word("and") {
		all = append(all, p.one(depth))
	}
	return func(tags map[string]string, container string) bool {
		for _, test := range all {
			if !test(tags, container) {
				return false
			}
		}
		return true
	}
}

func (p *tagParser) one(depth int) tagTest {
	if !p.parenthesis('(') {
		return p.comparison()
	}
	if depth == maxTagNested {
		p.fail("too many parentheses")
	}
	if p.err != nil {
		return nil
	}
	inner := p.or(depth + 1)
	if p.err == nil && !p.parenthesis(')') {
		p.fail("expected a ')'")
	}
	return inner
}

func (p *tagParser) comparison() tagTest {
	key := p.key()
	p.blanks()
	operator := ""
	for _, o := range []string{">=", "<=", "<>", "=", ">", "<"} {
		if strings.HasPrefix(p.text[p.at:], o) {
			operator = o
			break
		}
	}
	if operator == "" || p.find && operator == "<>" {
		p.fail("expected an operator")
	}
	p.at += len(operator)
	value := p.value()
	if p.err == nil && p.find {
		p.note(key, operator)
		p.tests[key] = append(p.tests[key], tagBound{operator, value})
	}
	if p.err != nil {
		return nil
	}
	holds := map[string]func(order int) bool{
		"=": func(o int) bool { return o == 0 }, "<>": func(o int) bool { return o != 0 },
		">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
		"<": func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 },
	}[operator]
	return func(tags map[string]string, container string) bool {
		is, ok := tags[key]
		if key == "@container" {
			is, ok = container, true
		}
		return ok && holds(strings.Compare(is, value))
	}
}

// note holds the comparisons of one key to a single value or range, and counts
// the keys.
func (p *tagParser) note(key, operator string) {
	side := operator[:1]
	before := p.compared[key]
	if side == "=" && before != "" || strings.Contains(before, side) || strings.Contains(before, "=") {
		p.fail("can't have multiple conditions for a single tag unless they define a range")
		return
	}
	p.compared[key] += side
	if before != "" || key == "@container" {
		return
	}
	if p.keys = append(p.keys, key); len(p.keys) > maxTags {
		p.err = &errTagQuery{-1, fmt.Sprintf("there can be at most %d unique tags in a query", maxTags)}
	}
}

func (p *tagParser) key() string {
	p.blanks()
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, `"`):
		key := p.quoted('"')
		p.tag(key, maxTagKey)
		return key
	case p.find && strings.HasPrefix(rest, "@"):
		key := "@" + plainTagKey.FindString(rest[1:])
		if key != "@container" {
			p.fail(fmt.Sprintf("unsupported parameter '%s'", key))
		}
		p.at += len(key)
		return key
	}
	key := plainTagKey.FindString(rest)
	if key == "" {
		p.fail("expected a tag name")
	}
	if p.find && len(key) > maxTagKey {
		p.fail("tag must be between 1 and 128 characters in length")
	}
	p.at += len(key)
	return key
}

func (p *tagParser) value() string {
	p.blanks()
	if !strings.HasPrefix(p.text[p.at:], "'") {
		p.fail("expecting tag value")
		return ""
	}
	value := p.quoted('\'')
	p.tag(value, maxTagValue)
	return value
}

// tag holds a quoted name or value to what tags can have. A name that is too long
// belongs to no blob, and only searches report it.
func (p *tagParser) tag(text string, most int) {
	switch {
	case !tagText.MatchString(text):
		p.fail("character not permitted in tag name or value")
	case !p.find:
	case most == maxTagKey && (text == "" || len(text) > most):
		p.fail("tag must be between 1 and 128 characters in length")
	case len(text) > most:
		p.fail("tag value must be between 0 and 256 characters in length")
	}
}

// quoted takes a text in quotes, in which a quote stands twice.
func (p *tagParser) quoted(quote byte) string {
	var text strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		if p.text[i] != quote {
			text.WriteByte(p.text[i])
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == quote {
			text.WriteByte(quote)
			i++
			continue
		}
		p.at = i + 1
		return text.String()
	}
	p.fail(fmt.Sprintf("expected a %c to close the string", quote))
	return ""
}

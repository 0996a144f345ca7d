package tables

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// Kinds of tokens.
const (
	endToken = iota
	wordToken
	literalToken
	openToken
	closeToken
	otherToken // what no filter has
)

// token is a word, a literal or a parenthesis of a filter.
type token struct {
	kind       int
	text       string // of a word
	v          tableapi.Value
	start, end int
	apart      bool // white space or a parenthesis stands before it
}

// scanner takes a filter apart (spec tables 4.1).
type scanner struct {
	s  string
	at int
}

// next returns the next token. Its errors are *storage.Error: a literal that is none.
func (s *scanner) next() (token, error) {
	from := s.at
	for s.at < len(s.s) && strings.IndexByte(" \t\r\n", s.s[s.at]) >= 0 {
		s.at++
	}
	t := token{start: s.at, apart: s.at > from || from == 0 || strings.IndexByte("()", s.s[from-1]) >= 0}
	if s.at == len(s.s) {
		t.end = s.at
		return t, nil
	}
	err := s.read(&t)
	t.end = s.at
	return t, err
}

func (s *scanner) read(t *token) (err error) {
	c, size := utf8.DecodeRuneInString(s.s[s.at:])
	switch {
	case c == '(':
		t.kind, t.apart = openToken, true
	case c == ')':
		t.kind, t.apart = closeToken, true
	case c == '\'':
		t.kind = literalToken
		t.v, err = s.quoted()
		return err
	case '0' <= c && c <= '9' || c == '-' || c == '+':
		t.kind = literalToken
		t.v, err = s.number()
		return err
	case tableapi.IdentifierRune(c, true):
		return s.word(t)
	default:
		t.kind = otherToken
	}
	s.at += size
	return nil
}

// quoted reads a text in quotes; a quote within is two.
func (s *scanner) quoted() (string, error) {
	start := s.at
	var b strings.Builder
	for s.at++; ; {
		i := strings.IndexByte(s.s[s.at:], '\'')
		if i < 0 {
			s.at = len(s.s)
			return "", tableapi.Invalid("There is an unterminated literal at position %d in '%s'.", start, s.s)
		}
		b.WriteString(s.s[s.at : s.at+i])
		s.at += i + 1
		if s.at == len(s.s) || s.s[s.at] != '\'' {
			return b.String(), nil
		}
		b.WriteByte('\'')
		s.at++
	}
}

// word reads a name, or a literal that begins with one.
func (s *scanner) word(t *token) (err error) {
	start := s.at
	for i, c := range s.s[start:] {
		if !tableapi.IdentifierRune(c, i == 0) {
			break
		}
		s.at = start + i + utf8.RuneLen(c)
	}
	t.kind, t.text = wordToken, s.s[start:s.at]
	if s.at < len(s.s) && s.s[s.at] == '\'' {
		t.kind = literalToken
		t.v, err = s.prefixed(t.text)
		return err
	}
	switch {
	case strings.EqualFold(t.text, "true"):
		t.kind, t.v = literalToken, true
	case strings.EqualFold(t.text, "false"):
		t.kind, t.v = literalToken, false
	case t.text == "NaN":
		t.kind, t.v = literalToken, math.NaN()
	case t.text == "INF":
		t.kind, t.v = literalToken, math.Inf(1)
	}
	return nil
}

// prefixed reads what stands in quotes behind the name of a type.
func (s *scanner) prefixed(prefix string) (tableapi.Value, error) {
	start := s.at - len(prefix)
	text, err := s.quoted()
	if err != nil {
		return nil, err
	}
	var v tableapi.Value
	switch strings.ToLower(prefix) {
	case "datetime":
		v, err = tableapi.ParseValue(text, tableapi.DateTime)
	case "guid":
		v, err = tableapi.ParseValue(text, tableapi.GUID)
	case "x", "binary":
		v, err = hex.DecodeString(text)
	default:
		return nil, syntax(s.s, s.at)
	}
	if err != nil {
		return nil, tableapi.Invalid("Unrecognized 'Edm.%s' literal '%s' at '%d' in '%s'.", edm(prefix), s.s[start:s.at], start, s.s)
	}
	return v, nil
}

func edm(prefix string) string {
	switch strings.ToLower(prefix) {
	case "datetime":
		return "DateTime"
	case "guid":
		return "Guid"
	}
	return "Binary"
}

// number reads an Int32, an Int64 with its L or a Double.
func (s *scanner) number() (tableapi.Value, error) {
	start := s.at
	for s.at++; s.at < len(s.s); s.at++ {
		c := s.s[s.at]
		exponent := (c == '+' || c == '-') && strings.IndexByte("eE", s.s[s.at-1]) >= 0
		if !exponent && c != '.' && !('0' <= c && c <= '9') && !('a' <= c|0x20 && c|0x20 <= 'z') {
			break
		}
	}
	text := s.s[start:s.at]
	digits := strings.TrimLeft(text, "+-")
	switch {
	case text == "-INF":
		return math.Inf(-1), nil
	case digits == "" || len(text)-len(digits) > 1 || digits[0] < '0' || digits[0] > '9':
	case strings.Trim(digits, "0123456789") == "":
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, tableapi.Invalid("Unrecognized 'Edm.Int32' literal '%s' at '%d' in '%s'.", text, start, s.s)
		}
		return int32(n), nil
	case strings.Trim(digits[:len(digits)-1], "0123456789") == "" && strings.HasSuffix(strings.ToUpper(digits), "L"):
		n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
		if err != nil {
			return nil, tableapi.Invalid("Unrecognized 'Edm.Int64' literal '%s' at '%d' in '%s'.", text, start, s.s)
		}
		return n, nil
	default:
		if v, ok := double(text); ok {
			return v, nil
		}
	}
	return nil, syntax(s.s, s.at)
}

// double reads digits with a point and digits behind it, or an exponent, or both; a D may
// stand at the end.
func double(text string) (float64, bool) {
	text = strings.TrimRight(text, "dD")
	body, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	if body == "" || strings.HasSuffix(body, ".") || strings.ContainsAny(text, "xXpP") || !strings.ContainsAny(text, ".eE") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// syntax is the failure of a token that does not fit, by its end.
func syntax(filter string, end int) *storage.Error {
	return tableapi.Invalid("Syntax error at position %d in '%s'.", end, filter)
}

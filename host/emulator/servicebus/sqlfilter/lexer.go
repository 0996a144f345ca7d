package sqlfilter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd        tokenKind = iota
	tokenSymbol               // an operator or a bracket, in text
	tokenWord                 // a regular identifier, perhaps a keyword
	tokenIdentifier           // [delimited] or "quoted", in text without its marks
	tokenString
	tokenInteger
	tokenSmallest // digits of the smallest integer, which has no positive: a minus must stand before them
	tokenFloat
	tokenParameter // @name
)

type token struct {
	kind    tokenKind
	text    string
	integer int64
	float   float64
	offset  int
}

// is reports whether the token is that symbol or keyword. Keywords are
// case-insensitive.
func (t token) is(word string) bool {
	switch t.kind {
	case tokenSymbol:
		return t.text == word
	case tokenWord:
		return strings.EqualFold(t.text, word)
	}
	return false
}

// String is how an error names the token.
func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// keywords cannot be the names of properties, unless delimited.
var keywords = [...]string{
	"and", "or", "not", "is", "null", "in", "like", "escape", "exists", "true", "false", "set", "remove",
}

func isKeyword(word string) bool {
	for _, k := range keywords {
		if strings.EqualFold(k, word) {
			return true
		}
	}
	return false
}

// tokens splits an expression.
func tokens(text string) ([]token, error) {
	if n := utf8.RuneCountInString(text); n > MaxExpression {
		return nil, &SyntaxError{Expression: text[:32] + "...", Text: fmt.Sprintf("the expression has %d characters, the limit is %d", n, MaxExpression)}
	}
	var out []token
	for at := 0; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			at += size
			continue
		}
		t, end, err := next(text, at)
		if err != nil {
			return nil, err
		}
		t.offset = at
		out = append(out, t)
		if t.kind == tokenEnd {
			return out, nil
		}
		at = end
	}
}

// next reads the token at an offset where no space is.
func next(text string, at int) (t token, end int, err error) {
	if at == len(text) {
		return token{kind: tokenEnd}, at, nil
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	switch {
	case unicode.IsLetter(r) || r == '_':
		end = wordEnd(text, at)
		return token{kind: tokenWord, text: text[at:end]}, end, nil
	case r == '@':
		end = wordEnd(text, at+size)
		if end == at+size {
			return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: "a parameter has a name, as in @name"}
		}
		return token{kind: tokenParameter, text: text[at:end]}, end, nil
	case r == '[':
		return enclosed(text, at, ']', tokenIdentifier, "delimited identifier")
	case r == '"':
		return enclosed(text, at, '"', tokenIdentifier, "quoted identifier")
	case r == '\'':
		return enclosed(text, at, '\'', tokenString, "string")
	case r >= '0' && r <= '9', r == '.' && at+1 < len(text) && isDigit(text[at+1]):
		return number(text, at)
	}
	for _, symbol := range [...]string{"<>", "<=", ">=", "!=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ";", "."} {
		if strings.HasPrefix(text[at:], symbol) {
			return token{kind: tokenSymbol, text: symbol}, at + len(symbol), nil
		}
	}
	return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: fmt.Sprintf("unexpected character %q", r)}
}

func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			break
		}
		at += size
	}
	return at
}

// enclosed reads what stands between two marks; the second one is doubled where
// it is meant.
func enclosed(text string, at int, mark byte, kind tokenKind, what string) (token, int, error) {
	var b strings.Builder
	for i := at + 1; i < len(text); i++ {
		if text[i] != mark {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == mark {
			b.WriteByte(mark)
			i++
			continue
		}
		if kind == tokenIdentifier && b.Len() == 0 {
			return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: "empty " + what}
		}
		return token{kind: kind, text: b.String()}, i + 1, nil
	}
	return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: fmt.Sprintf("%s without its closing %q", what, mark)}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads an integer (64 bits), a decimal or a number in scientific form.
func number(text string, at int) (token, int, error) {
	end := at
	digits := func() {
		for end < len(text) && isDigit(text[end]) {
			end++
		}
	}
	digits()
	float := false
	if end < len(text) && text[end] == '.' {
		float = true
		end++
		digits()
	}
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		exponent := end + 1
		if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if exponent < len(text) && isDigit(text[exponent]) {
			float = true
			end = exponent
			digits()
		}
	}
	t := token{kind: tokenInteger, text: text[at:end]}
	var err error
	if float {
		t.kind = tokenFloat
		t.float, err = strconv.ParseFloat(t.text, 64)
	} else {
		t.integer, err = strconv.ParseInt(t.text, 10, 64)
		if n, unsignedErr := strconv.ParseUint(t.text, 10, 64); unsignedErr == nil && n == 1<<63 {
			t.kind, err = tokenSmallest, nil
		}
	}
	if r, _ := utf8.DecodeRuneInString(text[end:]); err == nil && unicode.IsLetter(r) {
		return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: "a letter follows the number " + t.text}
	}
	if err != nil {
		return token{}, 0, &SyntaxError{Expression: text, Offset: at, Text: outOfRange(t.text)}
	}
	return t, end, nil
}

func outOfRange(number string) string { return "the number " + number + " is out of range" }

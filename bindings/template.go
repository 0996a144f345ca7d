package bindings

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Template is a text with binding expressions, such as
// `archive/{order.id}-{rand-guid}.json`: the queue name or path of a binding.
// It is immutable and may be used concurrently.
//
//	{name}            a value of the trigger, in any case
//	{order.id}        a property of a JSON value, in any case at each level
//	{rand-guid:N}     a new GUID, in one of .NET's formats (default D)
//	{datetime:yyyy}   the time in UTC, in a .NET format
//	{sys.methodname}  also {sys.utcnow} and {sys.randguid}
//	{{ and }}         literal braces
//
// References to settings (`%NAME%`) are no part of it: see [ResolveSettings].
type Template struct {
	text   string
	tokens []token
}

// token is a literal, or an expression when path is not empty.
type token struct {
	literal string
	path    []string // names separated by dots
	format  string   // after the first colon
}

// TemplateError is a fault in the text of a template, with the platform's texts
// (webjobs sdk, BindingTemplateParser.cs and BindingTemplateToken.cs).
type TemplateError struct {
	Template string
	Position int // of the fault, in characters, from 1
	Text     string
}

func (e *TemplateError) Error() string { return e.Text }

// ParseTemplate reads a template. The error is a *TemplateError.
func ParseTemplate(s string) (*Template, error) {
	t := &Template{text: s}
	literal := func(text string) {
		if n := len(t.tokens); n > 0 && t.tokens[n-1].path == nil {
			t.tokens[n-1].literal += text
			return
		}
		t.tokens = append(t.tokens, token{literal: text})
	}
	for i := 0; i < len(s); {
		position := utf8.RuneCountInString(s[:i]) + 1
		fault := func(format string, arg any) error {
			return &TemplateError{Template: s, Position: position,
				Text: fmt.Sprintf("Invalid template '%s'. "+format, s, arg)}
		}
		switch c := s[i]; {
		case c != '{' && c != '}':
			n := strings.IndexAny(s[i:], "{}")
			if n < 0 {
				n = len(s) - i
			}
			literal(s[i : i+n])
			i += n
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}"):
			literal(s[i : i+1])
			i += 2
		case c == '}':
			return nil, fault("Missing opening bracket at position %d.", position)
		default:
			n := strings.IndexAny(s[i+1:], "{}")
			if n < 0 || s[i+1+n] == '{' {
				return nil, fault("Missing closing bracket at position %d.", position)
			}
			if n == 0 {
				return nil, fault("The parameter name at position %d is empty.", position)
			}
			expression := s[i+1 : i+1+n]
			tok, ok := parseExpression(expression)
			if !ok {
				return nil, fault("The parameter name '%s' is invalid.", expression)
			}
			t.tokens = append(t.tokens, tok)
			i += n + 2
		}
	}
	return t, nil
}

// parseExpression reads what stands between braces: names separated by dots,
// then a format after a colon. A name starts with a letter or underscore and
// goes on with letters, digits, underscores and the like; dashes are allowed
// after the first dot, for headers.
func parseExpression(s string) (token, bool) {
	name, format, _ := strings.Cut(s, ":")
	if strings.EqualFold(name, "rand-guid") {
		return token{path: []string{name}, format: format}, true
	}
	path := strings.Split(name, ".")
	for i, part := range path {
		if part == "" {
			return token{}, false
		}
		for j, c := range part {
			switch {
			case c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c):
			case c == '-' && i > 0:
			case j+i > 0 && unicode.In(c, unicode.Nd, unicode.Pc, unicode.Mn, unicode.Mc, unicode.Cf):
			default:
				return token{}, false
			}
		}
	}
	return token{path: path, format: format}, true
}

// Parts yields the template in order: each literal text with a nil path, and each
// expression as the names that dots separate in it.
func (t *Template) Parts() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, tok := range t.tokens {
			if !yield(tok.literal, tok.path) {
				return
			}
		}
	}
}

// String returns the template's text.
func (t *Template) String() string { return t.text }

// IsConstant reports whether the template has no expressions, so that its value
// is known before any trigger fires.
func (t *Template) IsConstant() bool {
	for _, tok := range t.tokens {
		if tok.path != nil {
			return false
		}
	}
	return true
}

// Parameters returns the names that the trigger has to provide: the first part
// of each expression that is not a built-in, once each, in order.
func (t *Template) Parameters() []string {
	var names []string
	seen := map[string]bool{}
	for _, tok := range t.tokens {
		if tok.path == nil || isBuiltIn(tok.path[0]) {
			continue
		}
		if folded := strings.ToLower(tok.path[0]); !seen[folded] {
			seen[folded] = true
			names = append(names, tok.path[0])
		}
	}
	return names
}

// Check fails if an expression names something that is not in contract, the
// complete list of what a trigger provides. It is for triggers whose values are
// known when the function is indexed: a queue message or a request may bring
// any property, so theirs are checked by Resolve.
func (t *Template) Check(contract []string) error {
next:
	for _, name := range t.Parameters() {
		for _, known := range contract {
			if strings.EqualFold(known, name) {
				continue next
			}
		}
		return &UnknownParameterError{Name: name}
	}
	return nil
}

// UnknownParameterError is what Check reports, with the platform's text.
type UnknownParameterError struct{ Name string }

func (e *UnknownParameterError) Error() string {
	return fmt.Sprintf("Unable to resolve binding parameter '%s'. Binding expressions must map to either a value provided by the trigger "+
		"or a property of the value the trigger is bound to, or must be a system binding expression (e.g. sys.randguid, sys.utcnow, etc.).", e.Name)
}

// Resolve evaluates the template. The error is an *ExpressionError.
func (t *Template) Resolve(data *BindingData) (string, error) {
	var b strings.Builder
	for _, tok := range t.tokens {
		if tok.path == nil {
			b.WriteString(tok.literal)
			continue
		}
		s, err := data.evaluate(tok)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

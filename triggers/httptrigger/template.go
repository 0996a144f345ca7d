package httptrigger

import (
	"fmt"
	"strings"
)

// A TemplateError says what is wrong with a route.
type TemplateError struct {
	Template string // as it was given
	Reason   string
	cause    error
}

// Unwrap returns what is wrong in the template, for [ErrExpression].
func (e *TemplateError) Unwrap() error { return e.cause }

func (e *TemplateError) Error() string { return fmt.Sprintf("route %q: %s", e.Template, e.Reason) }

// Template is a parsed route. It is made by [ParseTemplate]; the zero Template is
// the template of the empty route. Templates are safe for concurrent use.
type Template struct {
	text     string
	segments []segment
}

// A segment is the part of a template between two slashes: one part, or
// literals and parameters in turn.
type segment []part

// A part is a literal text or, if param is set, a parameter.
type part struct {
	literal string
	param   *parameter
}

type parameter struct {
	name        string
	optional    bool
	catchAll    bool
	fallback    string // meaningful if hasFallback
	hasFallback bool
	constraints []constraint
}

// ParseTemplate reads a route in the syntax of ASP.NET: literal texts and
// parameters in braces, separated by slashes; slashes around the whole do not
// matter.
//
//	orders/{id}            a parameter
//	orders/{id?}           which may be missing at the end
//	orders/{id=5}          or has a default then
//	orders/{id:int:min(1)} and meets constraints
//	files/{name}.{ext?}    several in one segment, between literals
//	files/{*rest}          the rest of the path, slashes included; also {**rest}
//
// Braces in literals and in regular expressions are doubled. The constraints are
// int, long, bool, datetime, decimal, double, float, guid, alpha, required,
// minlength(n), maxlength(n), length(n), length(a,b), min(n), max(n), range(a,b),
// exists (which no value meets) and regex(e). Regular expressions have the syntax of package regexp: the
// further forms of .NET (looking around, going back) are an error, which is an [ErrExpression].
//
// Errors are of type *[TemplateError].
func ParseTemplate(text string) (Template, error) {
	p := templateParser{rest: strings.Trim(text, "/")}
	t := Template{text: text}
	if strings.HasPrefix(text, "~") && !strings.HasPrefix(text, "~/") {
		return Template{}, &TemplateError{Template: text, Reason: "a tilde may begin a route only with a slash behind it"}
	}
	if err := p.parse(&t); err != nil {
		return Template{}, &TemplateError{Template: text, Reason: err.Error(), cause: err}
	}
	return t, nil
}

// String returns the route as it was given.
func (t Template) String() string { return t.text }

// Parameters returns the names of the route's parameters, in order.
func (t Template) Parameters() []string {
	var names []string
	for _, s := range t.segments {
		for _, p := range s {
			if p.param != nil {
				names = append(names, p.param.name)
			}
		}
	}
	return names
}

// templateParser reads a template from left to right.
type templateParser struct {
	rest string
}

func (p *templateParser) parse(t *Template) error {
	for p.rest != "" {
		s, err := p.segment()
		if err != nil {
			return err
		}
		t.segments = append(t.segments, s)
	}
	return checkTemplate(t.segments)
}

// segment reads up to a slash, which it drops, or the end.
func (p *templateParser) segment() (segment, error) {
	var s segment
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			s = append(s, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for p.rest != "" && p.rest[0] != '/' {
		switch {
		case strings.HasPrefix(p.rest, "{{"), strings.HasPrefix(p.rest, "}}"):
			literal.WriteByte(p.rest[0])
			p.rest = p.rest[2:]
		case p.rest[0] == '{':
			flush()
			content, err := p.braces()
			if err != nil {
				return nil, err
			}
			param, err := parseParameter(content)
			if err != nil {
				return nil, err
			}
			s = append(s, part{param: param})
		case p.rest[0] == '}':
			return nil, fmt.Errorf("a closing brace has no opening one")
		case p.rest[0] == '?':
			return nil, fmt.Errorf("a question mark can only end a parameter")
		default:
			literal.WriteByte(p.rest[0])
			p.rest = p.rest[1:]
		}
	}
	flush()
	if len(s) == 0 {
		return nil, fmt.Errorf("two slashes follow each other")
	}
	p.rest = strings.TrimPrefix(p.rest, "/")
	return s, nil
}

// braces reads a parameter and returns what is between its braces, with doubled
// braces made single.
func (p *templateParser) braces() (string, error) {
	var content strings.Builder
	for i := 1; i < len(p.rest); i++ {
		c := p.rest[i]
		if c != '{' && c != '}' {
			content.WriteByte(c)
			continue
		}
		// A pair is one brace of the content, as in {id:regex(^\d{{2}}$)}.
		if i+1 < len(p.rest) && p.rest[i+1] == c {
			content.WriteByte(c)
			i++
			continue
		}
		if c == '{' {
			return "", fmt.Errorf("an opening brace in a parameter must be doubled")
		}
		p.rest = p.rest[i+1:]
		return content.String(), nil
	}
	return "", fmt.Errorf("an opening brace has no closing one")
}

// parseParameter reads what is between the braces of a parameter.
func parseParameter(content string) (*parameter, error) {
	p := &parameter{}
	text := content
	if rest, ok := strings.CutPrefix(text, "*"); ok {
		p.catchAll = true
		text = strings.TrimPrefix(rest, "*")
	}
	text, p.optional = strings.CutSuffix(text, "?")
	end := len(text)
	if text != "" { // the first character is of the name, whatever it is
		if i := strings.IndexAny(text[1:], ":="); i >= 0 {
			end = 1 + i
		}
	}
	p.name = text[:end]
	if p.name == "" || strings.ContainsAny(p.name, "/{}?*") {
		return nil, fmt.Errorf("parameter %q has no valid name", "{"+content+"}")
	}
	rest := text[end:]
	for strings.HasPrefix(rest, ":") {
		name, args, hasArgs, after, err := cutConstraint(rest[1:])
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", p.name, err)
		}
		if rest = after; name == "" && !hasArgs {
			continue // none, as on the platform
		}
		c, err := newConstraint(name, args, hasArgs)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", p.name, err)
		}
		p.constraints = append(p.constraints, c)
	}
	p.fallback, p.hasFallback = strings.CutPrefix(rest, "=")
	switch {
	case p.catchAll && p.optional:
		return nil, fmt.Errorf("parameter %q takes the rest of the path and cannot be optional as well", p.name)
	case p.optional && p.hasFallback:
		return nil, fmt.Errorf("parameter %q is optional and cannot have a default", p.name)
	}
	return p, nil
}

// cutConstraint cuts `name` or `name(args)` from the front of text. The closing
// parenthesis is the first that is followed by another constraint, the default
// or the end, so that expressions may contain parentheses.
func cutConstraint(text string) (name, args string, hasArgs bool, rest string, err error) {
	end := strings.IndexAny(text, ":=(")
	if end < 0 {
		return text, "", false, "", nil
	}
	if name = text[:end]; text[end] != '(' {
		return name, "", false, text[end:], nil
	}
	for i := end + 1; i < len(text); i++ {
		if text[i] == ')' && (i+1 == len(text) || text[i+1] == ':' || text[i+1] == '=') {
			return name, text[end+1 : i], true, text[i+1:], nil
		}
	}
	return "", "", false, "", fmt.Errorf("constraint %q has no closing parenthesis", name)
}

// checkTemplate applies the rules that concern more than one part.
func checkTemplate(segments []segment) error {
	seen := map[string]bool{}
	for i, s := range segments {
		for j, p := range s {
			if p.param == nil {
				continue
			}
			name := p.param.name
			switch {
			case seen[strings.ToLower(name)]:
				return fmt.Errorf("parameter %q occurs twice", name)
			case p.param.catchAll && len(s) > 1:
				return fmt.Errorf("parameter %q takes the rest of the path and must be a segment of its own", name)
			case p.param.catchAll && i < len(segments)-1:
				return fmt.Errorf("parameter %q takes the rest of the path and must come last", name)
			case j > 0 && s[j-1].param != nil:
				return fmt.Errorf("parameters %q and %q need a literal text between them", s[j-1].param.name, name)
			case p.param.optional && len(s) > 1 && (j < len(s)-1 || s[j-1].literal != "."):
				return fmt.Errorf("optional parameter %q must end its segment and follow a full stop", name)
			}
			seen[strings.ToLower(name)] = true
		}
	}
	return nil
}

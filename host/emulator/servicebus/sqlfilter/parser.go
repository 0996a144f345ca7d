package sqlfilter

import (
	"fmt"
	"math"
	"strings"
)

// maxDepth bounds nesting. An expression of MaxExpression characters can nest
// deeper only with brackets that say nothing.
const maxDepth = 128

type parser struct {
	text       string
	tokens     []token
	at         int
	depth      int
	parameters map[string]any
}

func newParser(text string, parameters map[string]any) (*parser, error) {
	all, err := tokens(text)
	if err != nil {
		return nil, err
	}
	return &parser{text: text, tokens: all, parameters: parameters}, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the token if it is that symbol or keyword.
func (p *parser) accept(word string) bool {
	if p.peek().is(word) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(word string) error {
	if !p.accept(word) {
		return p.errorf("%q expected, found %s", word, p.peek())
	}
	return nil
}

func (p *parser) errorf(format string, args ...any) error {
	return &SyntaxError{Expression: p.text, Offset: p.peek().offset, Text: fmt.Sprintf(format, args...)}
}

// deeper counts one more level; the returned function ends it.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return p.errorf("the expression nests deeper than %d levels", maxDepth)
	}
	return nil
}

// disjunction is the whole of a condition: a OR b OR ...
func (p *parser) disjunction() (expression, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	x, err := p.conjunction()
	for err == nil && p.accept("or") {
		var y expression
		if y, err = p.conjunction(); err == nil {
			x = or{x, y}
		}
	}
	return x, err
}

func (p *parser) conjunction() (expression, error) {
	x, err := p.factor()
	for err == nil && p.accept("and") {
		var y expression
		if y, err = p.factor(); err == nil {
			x = and{x, y}
		}
	}
	return x, err
}

func (p *parser) factor() (expression, error) {
	if !p.accept("not") {
		return p.predicate()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	x, err := p.factor()
	return not{x}, err
}

// predicate is a comparison or test, or a bare expression that is a Boolean.
func (p *parser) predicate() (expression, error) {
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	for _, op := range [...]string{"=", "<>", "!=", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			y, err := p.sum()
			return comparison{op, x, y}, err
		}
	}
	if p.accept("is") {
		negated := p.accept("not")
		if err := p.expect("null"); err != nil {
			return nil, err
		}
		return isNull{x, negated}, nil
	}
	negated := p.accept("not")
	switch {
	case p.accept("in"):
		list, err := p.list()
		return in{x, list, negated}, err
	case p.accept("like"):
		return p.like(x, negated)
	case negated:
		return nil, p.errorf("IN or LIKE expected after NOT, found %s", p.peek())
	}
	return x, nil
}

func (p *parser) list() ([]expression, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var out []expression
	for {
		x, err := p.sum()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if !p.accept(",") {
			return out, p.expect(")")
		}
	}
}

func (p *parser) like(x expression, negated bool) (expression, error) {
	l := like{x: x, not: negated}
	var err error
	if l.pattern, err = p.sum(); err != nil {
		return nil, err
	}
	if p.accept("escape") {
		if l.escape, err = p.sum(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (p *parser) sum() (expression, error) {
	x, err := p.product()
	for err == nil && (p.peek().is("+") || p.peek().is("-")) {
		op := p.take().text
		var y expression
		if y, err = p.product(); err == nil {
			x = binary{op, x, y}
		}
	}
	return x, err
}

func (p *parser) product() (expression, error) {
	x, err := p.unary()
	for err == nil && (p.peek().is("*") || p.peek().is("/") || p.peek().is("%")) {
		op := p.take().text
		var y expression
		if y, err = p.unary(); err == nil {
			x = binary{op, x, y}
		}
	}
	return x, err
}

func (p *parser) unary() (expression, error) {
	if !p.peek().is("+") && !p.peek().is("-") {
		return p.primary()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	minus := p.take().text == "-"
	if minus && p.peek().kind == tokenSmallest {
		p.take()
		return constant{int64(math.MinInt64)}, nil
	}
	x, err := p.unary()
	if minus {
		return negation{x}, err
	}
	return plus{x}, err
}

func (p *parser) primary() (expression, error) {
	t := p.peek()
	switch t.kind {
	case tokenString:
		p.take()
		return constant{t.text}, nil
	case tokenInteger:
		p.take()
		return constant{t.integer}, nil
	case tokenSmallest:
		return nil, p.errorf("%s", outOfRange(t.text))
	case tokenFloat:
		p.take()
		return constant{t.float}, nil
	case tokenParameter:
		return p.parameter()
	}
	switch {
	case p.accept("("):
		x, err := p.disjunction()
		if err != nil {
			return nil, err
		}
		return x, p.expect(")")
	case p.accept("true"):
		return constant{true}, nil
	case p.accept("false"):
		return constant{false}, nil
	case p.accept("null"):
		return constant{nil}, nil
	case p.accept("exists"):
		return p.exists()
	case t.kind == tokenWord && p.tokens[p.at+1].is("("):
		return p.function()
	}
	return p.property()
}

func (p *parser) exists() (expression, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	x, err := p.property()
	if err != nil {
		return nil, err
	}
	return exists{x}, p.expect(")")
}

func (p *parser) function() (expression, error) {
	switch t := p.peek(); {
	case t.is("newid"):
		p.take()
		p.take()
		return newID{}, p.expect(")")
	case t.is("property"), t.is("p"):
		p.take()
		p.take()
		name, err := p.sum()
		if err != nil {
			return nil, err
		}
		return propertyOf{name}, p.expect(")")
	default:
		return nil, p.errorf("there is no function %s; there are newid, property and p", t)
	}
}

func (p *parser) parameter() (expression, error) {
	name := p.peek().text
	for key, v := range p.parameters {
		if strings.EqualFold(strings.TrimPrefix(key, "@"), name[1:]) {
			p.take()
			return constant{normal(v)}, nil
		}
	}
	return nil, p.errorf("the parameter %s has no value", name)
}

// property reads [scope.]name. A first part that is no scope belongs to the name
// only inside brackets or quotes.
func (p *parser) property() (property, error) {
	first, err := p.identifier()
	if err != nil || !p.peek().is(".") {
		return property{name: first}, err
	}
	at := p.at
	p.take()
	second, err := p.identifier()
	switch {
	case err != nil:
		return property{}, err
	case strings.EqualFold(first, "sys"):
		return property{system: true, name: second}, nil
	case strings.EqualFold(first, "user"):
		return property{name: second}, nil
	}
	p.at = at
	return property{}, p.errorf("%q is no scope: the scopes are sys and user", first)
}

func (p *parser) identifier() (string, error) {
	t := p.peek()
	if t.kind == tokenIdentifier || t.kind == tokenWord && !isKeyword(t.text) {
		p.take()
		return t.text, nil
	}
	return "", p.errorf("a value or a property expected, found %s", t)
}

package tables

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// maxDepth bounds the parentheses and negations within each other.
const maxDepth = 250

// parse makes a filter out of its text (spec tables 4.1). A filter of white space is nil:
// everything passes it. Errors are *storage.Error.
func parse(filter string) (node, error) {
	if strings.TrimSpace(filter) == "" {
		return nil, nil
	}
	p := &parser{scanner: scanner{s: filter}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != endToken {
		return nil, p.unexpected()
	}
	if c, ok := n.(constant); ok {
		if _, ok := c.v.(bool); !ok {
			return nil, tableapi.Invalid("The $filter expression must evaluate to a single boolean value.")
		}
	}
	return n, nil
}

// parser reads one token ahead.
type parser struct {
	scanner
	token token
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

// unexpected is the failure of the token that comes.
func (p *parser) unexpected() error {
	if p.token.kind == wordToken {
		switch p.token.text {
		case "add", "sub", "mul", "div", "mod":
			return tableapi.NewError(storage.CodeNotImplemented)
		}
	}
	return syntax(p.s, p.token.end)
}

// at reports whether a word comes, which stands apart from what is before it.
func (p *parser) at(word string) bool {
	return p.token.kind == wordToken && p.token.text == word && p.token.apart
}

func (p *parser) or(depth int) (node, error) {
	terms, err := p.chain("or", func() (node, error) { return p.and(depth) })
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return either{terms}, nil
}

func (p *parser) and(depth int) (node, error) {
	terms, err := p.chain("and", func() (node, error) { return p.unary(depth) })
	if err != nil || len(terms) == 1 {
		return first(terms), err
	}
	return both{terms}, nil
}

func first(terms []node) node {
	if len(terms) == 0 {
		return nil
	}
	return terms[0]
}

// chain reads terms with a word between them.
func (p *parser) chain(word string, term func() (node, error)) (terms []node, err error) {
	for {
		n, err := term()
		if err != nil {
			return nil, err
		}
		terms = append(terms, n)
		last := !p.at(word)
		if !boolean(n) && (!last || len(terms) > 1) {
			return nil, p.unexpected()
		}
		if last {
			return terms, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.token.apart {
			return nil, p.unexpected()
		}
	}
}

// boolean reports whether a part can be true: a constant of another type cannot.
func boolean(n node) bool {
	c, ok := n.(constant)
	if !ok {
		return true
	}
	_, ok = c.v.(bool)
	return ok
}

func (p *parser) unary(depth int) (node, error) {
	if !p.at("not") {
		return p.compare(depth)
	}
	if depth++; depth > maxDepth {
		return nil, tableapi.NewError(storage.CodeInvalidInput)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.token.apart {
		return nil, p.unexpected()
	}
	of, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if !boolean(of) {
		return nil, p.unexpected()
	}
	return negation{of}, nil
}

// operators are those of comparisons, in lower case only (T-10).
var operators = map[string]bool{"eq": true, "ne": true, "gt": true, "ge": true, "lt": true, "le": true} // read only

func (p *parser) compare(depth int) (node, error) {
	left, err := p.operand(depth)
	if err != nil || p.token.kind != wordToken || !operators[p.token.text] || !p.token.apart {
		return left, err
	}
	op := p.token.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.token.apart {
		return nil, p.unexpected()
	}
	right, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if _, ok := left.(property); ok {
		if _, ok := right.(property); ok {
			return nil, tableapi.NewError(storage.CodeInvalidInput)
		}
	}
	return compare{op, left, right}, nil
}

// operand reads a literal, a property or a filter in parentheses.
func (p *parser) operand(depth int) (node, error) {
	t := p.token
	switch t.kind {
	case literalToken:
		return constant{t.v}, p.advance()
	case wordToken:
		if t.text == "null" || t.text == "and" || t.text == "or" || operators[t.text] {
			return nil, p.unexpected()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.token.kind == openToken && p.token.start == t.end { // a function
			return nil, tableapi.NewError(storage.CodeNotImplemented)
		}
		return property{t.text}, nil
	case openToken:
		if depth++; depth > maxDepth {
			return nil, tableapi.NewError(storage.CodeInvalidInput)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.or(depth)
		if err != nil {
			return nil, err
		}
		if p.token.kind != closeToken {
			return nil, p.unexpected()
		}
		return n, p.advance()
	}
	return nil, p.unexpected()
}

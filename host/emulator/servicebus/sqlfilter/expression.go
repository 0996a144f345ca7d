package sqlfilter

import (
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// env is the environment of an expression.
type env struct {
	message *servicebus.Message
	newID   func() bindings.GUID
}

// An expression has a value on a message.
type expression interface {
	eval(e *env) (value, error)
}

type constant struct{ v value }

func (c constant) eval(*env) (value, error) { return c.v, nil }

// property is a property of the message.
type property struct {
	system bool
	name   string
}

func (p property) eval(e *env) (value, error) {
	v, _, err := p.lookup(e)
	return v, err
}

// lookup also tells whether the message has the property.
func (p property) lookup(e *env) (v value, exists bool, err error) {
	if !p.system {
		_, v, exists = userProperty(e.message, p.name)
		return v, exists, nil
	}
	field, ok := systemProperty(p.name)
	if !ok {
		return nil, false, failf("there is no system property %q", p.name)
	}
	v = field.get(e.message)
	return v, v != nil, nil
}

// propertyOf is the function property(name): the name is computed.
type propertyOf struct{ name expression }

func (p propertyOf) eval(e *env) (value, error) {
	name, err := p.name.eval(e)
	if err != nil || name == nil {
		return nil, err
	}
	text, ok := name.(string)
	if !ok {
		return nil, failf("property() wants a String, not %s", describe(name))
	}
	return propertyNamed(text).eval(e)
}

// propertyNamed reads a name with an optional scope.
func propertyNamed(text string) property {
	if scope, name, ok := strings.Cut(text, "."); ok {
		switch {
		case strings.EqualFold(scope, "sys"):
			return property{system: true, name: name}
		case strings.EqualFold(scope, "user"):
			return property{name: name}
		}
	}
	return property{name: text}
}

type newID struct{}

func (newID) eval(e *env) (value, error) { return e.newID(), nil }

type negation struct{ x expression }

func (n negation) eval(e *env) (value, error) {
	v, err := n.x.eval(e)
	if err != nil || v == nil {
		return nil, err
	}
	return negate(v)
}

type plus struct{ x expression }

func (p plus) eval(e *env) (value, error) {
	v, err := p.x.eval(e)
	if err != nil || v == nil {
		return nil, err
	}
	if _, ok := toFloat(v); !ok {
		return nil, failf("operator \"+\" cannot be applied to an operand of type %s", describe(v))
	}
	return v, nil
}

type binary struct {
	op   string
	a, b expression
}

func (x binary) eval(e *env) (value, error) {
	a, err := x.a.eval(e)
	if err != nil {
		return nil, err
	}
	b, err := x.b.eval(e)
	if err != nil || a == nil || b == nil {
		return nil, err
	}
	return arithmetic(x.op, a, b)
}

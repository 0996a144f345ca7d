package sqlfilter

import (
	"maps"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// An Action changes properties of messages. It may be used concurrently.
type Action struct {
	text       string
	statements []statement
	newID      func() bindings.GUID
}

// A statement sets a property, or removes it when value is nil.
type statement struct {
	target property
	value  expression
}

// ParseAction reads statements SET property = expression and REMOVE property,
// separated by semicolons or nothing. Parameters and newID are as for
// ParseFilter; the error is a *SyntaxError.
func ParseAction(sql servicebus.SQL, newID func() bindings.GUID) (*Action, error) {
	p, err := newParser(sql.Expression, sql.Parameters)
	if err != nil {
		return nil, err
	}
	a := &Action{text: sql.Expression, newID: newID}
	for p.peek().kind != tokenEnd {
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		a.statements = append(a.statements, s)
		for p.accept(";") {
		}
	}
	if len(a.statements) == 0 {
		return nil, p.errorf("SET or REMOVE expected, found %s", p.peek())
	}
	return a, nil
}

func (p *parser) statement() (statement, error) {
	remove := p.accept("remove")
	if !remove && !p.accept("set") {
		return statement{}, p.errorf("SET or REMOVE expected, found %s", p.peek())
	}
	target, err := p.property()
	if err != nil || remove {
		return statement{target: target}, err
	}
	if err := p.expect("="); err != nil {
		return statement{}, err
	}
	v, err := p.sum()
	return statement{target: target, value: v}, err
}

// String is the text of the action.
func (a *Action) String() string { return a.text }

// Apply changes the message, statement by statement; each sees what those before
// it did. The map of application properties is replaced, never written to. When
// a statement fails, with a *FilterError, the message is as it was.
//
// A value that is unknown becomes NULL. Where the property exists with another
// type, the value is converted to it if possible.
func (a *Action) Apply(m *servicebus.Message) error {
	changed := *m
	changed.ApplicationProperties = maps.Clone(m.ApplicationProperties)
	e := &env{message: &changed, newID: a.newID}
	for _, s := range a.statements {
		if err := s.apply(e); err != nil {
			return err
		}
	}
	*m = changed
	return nil
}

func (s statement) apply(e *env) error {
	var v value
	if s.value != nil {
		var err error
		if v, err = s.value.eval(e); err != nil {
			return err
		}
	}
	if s.target.system {
		field, ok := systemProperty(s.target.name)
		switch {
		case !ok:
			return failf("there is no system property %q", s.target.name)
		case !field.set(e.message, v):
			return failf("a value of type %s cannot be given to sys.%s", describe(v), s.target.name)
		}
		return nil
	}
	key, old, exists := userProperty(e.message, s.target.name)
	switch {
	case s.value == nil:
		delete(e.message.ApplicationProperties, key)
	case e.message.ApplicationProperties == nil:
		e.message.ApplicationProperties = map[string]any{key: v}
	default:
		if exists {
			v = converted(v, old)
		}
		e.message.ApplicationProperties[key] = v
	}
	return nil
}

// converted brings v to the type of old where a conversion exists, and leaves it
// otherwise.
func converted(v, old value) value {
	switch old.(type) {
	case float64:
		if f, ok := toFloat(v); ok {
			return f
		}
		if s, ok := v.(string); ok {
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return f
			}
		}
	case int64:
		if s, ok := v.(string); ok {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
		}
	case bool:
		if s, ok := v.(string); ok {
			if b, err := strconv.ParseBool(strings.ToLower(s)); err == nil {
				return b
			}
		}
	case string:
		switch v := v.(type) {
		case int64:
			return strconv.FormatInt(v, 10)
		case float64:
			return strconv.FormatFloat(v, 'G', -1, 64)
		case bool:
			if v {
				return "True"
			}
			return "False"
		case bindings.GUID:
			return v.String()
		}
	}
	return v
}

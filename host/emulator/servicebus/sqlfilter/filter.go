package sqlfilter

import "github.com/redeliver/redeliver/bindings"

// A Filter is a condition on messages. It may be used concurrently.
type Filter struct {
	text string
	root expression
}

// ParseFilter reads a condition. Parameters are the values of @name, with or
// without the sign in their names. The error is a *SyntaxError.
func ParseFilter(text string, parameters map[string]any) (*Filter, error) {
	p, err := newParser(text, parameters)
	if err != nil {
		return nil, err
	}
	root, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tokenEnd {
		return nil, p.errorf("AND, OR or the end expected, found %s", p.peek())
	}
	return &Filter{text: text, root: root}, nil
}

// String is the text of the condition.
func (f *Filter) String() string { return f.text }

// Match reports whether the message meets the condition; one that is unknown
// is not met. The error is a *FilterError. newID makes the values of newid().
func (f *Filter) Match(m *bindings.ServiceBusMessage, newID func() bindings.GUID) (bool, error) {
	v, err := truth(f.root, &env{message: m, newID: newID})
	return v != nil && *v, err
}

package sqlfilter

import (
	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// A Filter is a condition on messages. It may be used concurrently.
type Filter struct {
	text  string
	root  expression
	newID func() bindings.GUID
}

// ParseFilter reads a condition. Its parameters are the values of @name, with or
// without the sign in their names; newID makes the values of newid(). The error is
// a *SyntaxError.
func ParseFilter(sql servicebus.SQL, newID func() bindings.GUID) (*Filter, error) {
	p, err := newParser(sql.Expression, sql.Parameters)
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
	return &Filter{text: sql.Expression, root: root, newID: newID}, nil
}

// String is the text of the condition.
func (f *Filter) String() string { return f.text }

// Match reports whether the message meets the condition; one that is unknown
// is not met. The error is a *FilterError.
func (f *Filter) Match(m *servicebus.Message) (bool, error) {
	v, err := truth(f.root, &env{message: m, newID: f.newID})
	return v != nil && *v, err
}

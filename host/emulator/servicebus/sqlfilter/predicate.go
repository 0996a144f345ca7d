package sqlfilter

// Predicates are expressions whose values are true, false and unknown (nil).

type comparison struct {
	op   string
	a, b expression
}

func (c comparison) eval(e *env) (value, error) {
	a, err := c.a.eval(e)
	if err != nil {
		return nil, err
	}
	b, err := c.b.eval(e)
	if err != nil || a == nil || b == nil {
		return nil, err
	}
	order, ordered, err := compare(c.op, a, b)
	if err != nil {
		return nil, err
	}
	switch c.op {
	case "=":
		return order == 0, nil
	case "<>", "!=":
		return order != 0, nil
	}
	if !ordered {
		if _, number := toFloat(a); number {
			return false, nil // not a number
		}
		return nil, failf("operator %q cannot be applied to operands of type %s and %s", c.op, describe(a), describe(b))
	}
	switch c.op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

type isNull struct {
	x   expression
	not bool
}

func (n isNull) eval(e *env) (value, error) {
	v, err := n.x.eval(e)
	if err != nil {
		return nil, err
	}
	return (v == nil) != n.not, nil
}

type exists struct{ p property }

func (x exists) eval(e *env) (value, error) {
	_, ok, err := x.p.lookup(e)
	if err != nil {
		return nil, err
	}
	return ok, nil
}

// in is true when one of the list is equal. As in SQL, an unknown in the list
// makes a result that would be false unknown.
type in struct {
	x    expression
	list []expression
	not  bool
}

func (n in) eval(e *env) (value, error) {
	x, err := n.x.eval(e)
	if err != nil || x == nil {
		return nil, err
	}
	unknown := false
	for _, item := range n.list {
		v, err := item.eval(e)
		if err != nil {
			return nil, err
		}
		if v == nil {
			unknown = true
			continue
		}
		order, _, err := compare("IN", x, v)
		if err != nil {
			return nil, err
		}
		if order == 0 {
			return !n.not, nil
		}
	}
	if unknown {
		return nil, nil
	}
	return n.not, nil
}

type like struct {
	x, pattern, escape expression // escape may be nil
	not                bool
}

func (l like) eval(e *env) (value, error) {
	x, err := l.x.eval(e)
	if err != nil {
		return nil, err
	}
	pattern, err := l.pattern.eval(e)
	if err != nil {
		return nil, err
	}
	var escape value = ""
	if l.escape != nil {
		if escape, err = l.escape.eval(e); err != nil {
			return nil, err
		}
	}
	if x == nil || pattern == nil || escape == nil {
		return nil, nil
	}
	text, okX := x.(string)
	wild, okP := pattern.(string)
	mark, okE := escape.(string)
	if !okX || !okP || !okE {
		return nil, failf("LIKE wants strings, not %s, %s and %s", describe(x), describe(pattern), describe(escape))
	}
	p, err := compilePattern(wild, mark, l.escape != nil)
	if err != nil {
		return nil, err
	}
	return p.match(text) != l.not, nil
}

type not struct{ x expression }

func (n not) eval(e *env) (value, error) {
	v, err := truth(n.x, e)
	if err != nil || v == nil {
		return nil, err
	}
	return !*v, nil
}

type and struct{ a, b expression }

func (x and) eval(e *env) (value, error) { return junction(x.a, x.b, false, e) }

type or struct{ a, b expression }

func (x or) eval(e *env) (value, error) { return junction(x.a, x.b, true, e) }

// junction is AND (decided by a false operand) or OR (by a true one). The second
// operand is not evaluated when the first decides.
func junction(a, b expression, decides bool, e *env) (value, error) {
	x, err := truth(a, e)
	if err != nil {
		return nil, err
	}
	if x != nil && *x == decides {
		return decides, nil
	}
	y, err := truth(b, e)
	if err != nil {
		return nil, err
	}
	switch {
	case y != nil && *y == decides:
		return decides, nil
	case x == nil || y == nil:
		return nil, nil
	}
	return !decides, nil
}

// truth evaluates an operand of logic; nil is unknown.
func truth(x expression, e *env) (*bool, error) {
	v, err := x.eval(e)
	if err != nil || v == nil {
		return nil, err
	}
	b, ok := v.(bool)
	if !ok {
		return nil, failf("a condition is a Boolean, not %s", describe(v))
	}
	return &b, nil
}

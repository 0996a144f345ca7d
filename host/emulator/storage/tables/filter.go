package tables

import (
	"bytes"
	"math"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// subject is what a filter is asked of: a row, or the name of a table.
type subject interface {
	// property returns the value of a member, nil when there is none.
	property(name string) tableapi.Value
}

// node is a part of a filter.
type node interface {
	// value is the part's value for a subject: a Boolean, of a property or a constant
	// another one, or nil for a property that is missing.
	value(s subject, m *mixed) tableapi.Value
}

// truth is a part's value where one of true and false is needed: what is missing or of
// another type is false.
func truth(n node, s subject, m *mixed) bool {
	b, ok := n.value(s, m).(bool)
	return ok && b
}

type (
	constant struct{ v tableapi.Value }
	property struct{ name string }
	negation struct{ of node }
	both     struct{ terms []node } // all of them hold
	either   struct{ terms []node } // one of them holds
	compare  struct {
		op          string
		left, right node
	}
)

func (c constant) value(subject, *mixed) tableapi.Value     { return c.v }
func (p property) value(s subject, _ *mixed) tableapi.Value { return s.property(p.name) }

func (n negation) value(s subject, m *mixed) tableapi.Value { return !truth(n.of, s, m) }

func (n both) value(s subject, m *mixed) tableapi.Value {
	for _, t := range n.terms {
		if !truth(t, s, m) {
			return false
		}
	}
	return true
}

func (n either) value(s subject, m *mixed) tableapi.Value {
	for _, t := range n.terms {
		if truth(t, s, m) {
			return true
		}
	}
	return false
}

func (n compare) value(s subject, m *mixed) tableapi.Value {
	a, b := n.left.value(s, m), n.right.value(s, m)
	if a == nil || b == nil {
		return false // whatever the operator (T-27)
	}
	c, ok := order(a, b)
	if !ok {
		return false
	}
	if m != nil && tableapi.TypeOf(a) != tableapi.TypeOf(b) {
		m.note(n, a, b)
	}
	return holds(n.op, c)
}

// unordered is the order of numbers of which one is not a number.
const unordered = 2

// holds reports whether an operator holds for two values in that order.
func holds(op string, c int) bool {
	if c == unordered {
		return op == "ne"
	}
	switch op {
	case "eq":
		return c == 0
	case "ne":
		return c != 0
	case "gt":
		return c > 0
	case "ge":
		return c >= 0
	case "lt":
		return c < 0
	}
	return c <= 0
}

// order compares values. It is false for values that are never compared (spec tables 4.2).
func order(a, b tableapi.Value) (c int, ok bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return tableapi.CompareText(a, b), true
		}
	case bool:
		if b, ok := b.(bool); ok {
			switch {
			case a == b:
				return 0, true
			case b:
				return -1, true
			}
			return 1, true
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), true
		}
	case bindings.GUID:
		if b, ok := b.(bindings.GUID); ok {
			return strings.Compare(a.String(), b.String()), true
		}
	case []byte:
		if b, ok := b.([]byte); ok {
			return bytes.Compare(a, b), true
		}
	default:
		return orderNumbers(a, b)
	}
	return 0, false
}

// orderNumbers compares Int32, Int64 and Double by value (T-8).
func orderNumbers(a, b tableapi.Value) (int, bool) {
	i, aWhole := whole(a)
	j, bWhole := whole(b)
	if aWhole && bWhole {
		return cmp(i, j), true
	}
	x, aOK := float(a)
	y, bOK := float(b)
	switch {
	case !aOK || !bOK:
		return 0, false
	case math.IsNaN(x) || math.IsNaN(y):
		return unordered, true
	case x == y && aWhole:
		return orderWhole(i, y), true
	case x == y && bWhole:
		return -orderWhole(j, x), true
	}
	return cmp(x, y), true
}

func cmp[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// orderWhole compares a whole number with the float64 to which it is rounded: 2^53 + 1 is
// more than the 2^53 that it would become.
func orderWhole(i int64, f float64) int {
	if f >= 1<<63 {
		return -1 // int64 ends before it
	}
	return cmp(i, int64(f))
}

func whole(v tableapi.Value) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

func float(v tableapi.Value) (float64, bool) {
	if n, ok := whole(v); ok {
		return float64(n), true
	}
	f, ok := v.(float64)
	return f, ok
}

// mixed is the first comparison of numbers of different types that a query has made.
type mixed struct{ text string }

func (m *mixed) note(n compare, a, b tableapi.Value) {
	if m.text != "" {
		return
	}
	p, ok := n.left.(property)
	stored, literal := a, b
	if !ok {
		p, ok = n.right.(property)
		stored, literal = b, a
	}
	if ok {
		m.text = "property " + p.name + " is " + string(tableapi.TypeOf(stored)) + ", the literal is " + string(tableapi.TypeOf(literal)) + ": the service compares values of one type only"
	}
}

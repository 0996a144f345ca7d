package sqlfilter

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// A value is nil (unknown: NULL, or a property that is not there), bool, int64,
// uint64 (above the range of int64), float64, string, []byte, time.Time,
// time.Duration, bindings.GUID, or something else that compares with nothing.
type value any

// normal brings a property's value to one of the types above.
func normal(v any) value {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case int:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint:
		return normal(uint64(v))
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
		return v
	case float32:
		return float64(v)
	}
	return v
}

// describe is how an error names the type of a value.
func describe(v value) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case bool:
		return "Boolean"
	case int64:
		return "Int64"
	case uint64:
		return "UInt64"
	case float64:
		return "Double"
	case string:
		return "String"
	case []byte:
		return "Byte[]"
	case time.Time:
		return "DateTime"
	case time.Duration:
		return "TimeSpan"
	case bindings.GUID:
		return "Guid"
	}
	return fmt.Sprintf("%T", v)
}

// compare orders two known values. ordered is false when they can only be told
// equal or different.
func compare(op string, a, b value) (order int, ordered bool, err error) {
	mismatch := func() (int, bool, error) {
		return 0, false, failf("operator %q cannot be applied to operands of type %s and %s", op, describe(a), describe(b))
	}
	switch x := a.(type) {
	case bool:
		if y, ok := b.(bool); ok {
			return unequal(x != y), false, nil
		}
	case string:
		switch y := b.(type) {
		case string:
			return strings.Compare(x, y), true, nil
		case bindings.GUID: // newid(), or a property, next to a constant
			return guidAndText(y, x), false, nil
		}
	case []byte:
		if y, ok := b.([]byte); ok {
			return unequal(!bytes.Equal(x, y)), false, nil
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), true, nil
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			return cmp.Compare(x, y), true, nil
		}
	case bindings.GUID:
		switch y := b.(type) {
		case bindings.GUID:
			return unequal(x != y), false, nil
		case string:
			return guidAndText(x, y), false, nil
		}
	case int64, uint64, float64:
		return compareNumbers(a, b, mismatch)
	}
	return mismatch()
}

func unequal(different bool) int {
	if different {
		return 1
	}
	return 0
}

func guidAndText(g bindings.GUID, text string) int {
	parsed, err := bindings.ParseGUID(text)
	return unequal(err != nil || parsed != g)
}

func compareNumbers(a, b value, mismatch func() (int, bool, error)) (int, bool, error) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true, nil
		}
	}
	if x, ok := a.(uint64); ok {
		switch y := b.(type) {
		case uint64:
			return cmp.Compare(x, y), true, nil
		case int64: // a uint64 is kept as such only beyond the range of int64
			return 1, true, nil
		}
	}
	if _, ok := a.(int64); ok {
		if _, ok := b.(uint64); ok {
			return -1, true, nil
		}
	}
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	if !okA || !okB {
		return mismatch()
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return 1, false, nil
	}
	return cmp.Compare(x, y), true, nil
}

func toFloat(v value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// arithmetic computes a op b for known values. As in C#, integers overflow
// silently, integer division truncates, and + joins strings.
func arithmetic(op string, a, b value) (value, error) {
	x, okX := a.(int64)
	y, okY := b.(int64)
	if okX && okY {
		switch op {
		case "+":
			return x + y, nil
		case "-":
			return x - y, nil
		case "*":
			return x * y, nil
		}
		if y == 0 {
			return nil, failf("attempted to divide by zero")
		}
		if op == "/" {
			return x / y, nil
		}
		return x % y, nil
	}
	f, okF := toFloat(a)
	g, okG := toFloat(b)
	if okF && okG {
		switch op {
		case "+":
			return f + g, nil
		case "-":
			return f - g, nil
		case "*":
			return f * g, nil
		case "/":
			return f / g, nil
		}
		return math.Mod(f, g), nil
	}
	if s, ok := a.(string); ok && op == "+" {
		if t, ok := b.(string); ok {
			return s + t, nil
		}
	}
	return nil, failf("operator %q cannot be applied to operands of type %s and %s", op, describe(a), describe(b))
}

// negate is unary minus.
func negate(v value) (value, error) {
	switch v := v.(type) {
	case int64:
		return -v, nil
	case float64:
		return -v, nil
	}
	return nil, failf("operator \"-\" cannot be applied to an operand of type %s", describe(v))
}

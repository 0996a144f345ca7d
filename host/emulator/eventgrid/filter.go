package eventgrid

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Filter is one advanced filter of a subscription. Value is used by the operators
// that take one, Values by the others; either will do for one value.
type Filter struct {
	Operator string `json:"operatorType"`
	Key      string `json:"key"`
	Value    any    `json:"value,omitempty"`
	Values   []any  `json:"values,omitempty"`
}

// The limits of filters (docs: event-filtering.md).
const (
	maxFilters      = 25
	maxFilterValues = 25
	maxFilterText   = 512
)

// filter is one that was checked and made ready.
type filter struct {
	op     operator
	path   []string // of the key
	texts  []string // folded
	floats []float64
	ranges [][2]float64
	flag   bool
}

// operator is one line of the table of operators. A negative one matches where the
// positive one does not, also where the key is missing or of another type.
type operator struct {
	takes    valueKind
	negative bool
	text     func(value, want string) bool
	number   func(value, want float64) bool
	null     bool // asks whether there is a value
}

type valueKind int

const (
	noValues valueKind = iota
	texts
	numbers
	oneNumber
	ranges
	boolean
)

// operators is the table of operators, by name in lower case.
func operators() map[string]operator {
	same := func(a, b string) bool { return a == b }
	within := func(v, _ float64) bool { return true }
	return map[string]operator{
		"numberin":                  {takes: numbers, number: func(v, w float64) bool { return v == w }},
		"numbernotin":               {takes: numbers, negative: true, number: func(v, w float64) bool { return v == w }},
		"numberlessthan":            {takes: oneNumber, number: func(v, w float64) bool { return v < w }},
		"numbergreaterthan":         {takes: oneNumber, number: func(v, w float64) bool { return v > w }},
		"numberlessthanorequals":    {takes: oneNumber, number: func(v, w float64) bool { return v <= w }},
		"numbergreaterthanorequals": {takes: oneNumber, number: func(v, w float64) bool { return v >= w }},
		"numberinrange":             {takes: ranges, number: within},
		"numbernotinrange":          {takes: ranges, negative: true, number: within},
		"boolequals":                {takes: boolean},
		"stringcontains":            {takes: texts, text: strings.Contains},
		"stringnotcontains":         {takes: texts, negative: true, text: strings.Contains},
		"stringbeginswith":          {takes: texts, text: strings.HasPrefix},
		"stringnotbeginswith":       {takes: texts, negative: true, text: strings.HasPrefix},
		"stringendswith":            {takes: texts, text: strings.HasSuffix},
		"stringnotendswith":         {takes: texts, negative: true, text: strings.HasSuffix},
		"stringin":                  {takes: texts, text: same},
		"stringnotin":               {takes: texts, negative: true, text: same},
		"isnullorundefined":         {null: true},
		"isnotnull":                 {null: true, negative: true},
	}
}

// compileFilters checks the filters of a subscription.
func compileFilters(filters []Filter) ([]filter, error) {
	if len(filters) > maxFilters {
		return nil, fmt.Errorf("%d advanced filters; the limit is %d", len(filters), maxFilters)
	}
	table := operators()
	out := make([]filter, 0, len(filters))
	total := 0
	for i, f := range filters {
		c, n, err := f.compile(table)
		if err != nil {
			return nil, fmt.Errorf("advanced filter %d: %w", i, err)
		}
		total += n
		out = append(out, c)
	}
	if total > maxFilterValues {
		return nil, fmt.Errorf("%d values in advanced filters; the limit is %d", total, maxFilterValues)
	}
	return out, nil
}

func (f Filter) compile(table map[string]operator) (out filter, values int, err error) {
	op, known := table[fold(f.Operator)]
	if !known {
		return out, 0, fmt.Errorf("unknown operator %q", f.Operator)
	}
	if f.Key == "" {
		return out, 0, fmt.Errorf("%s: the key is missing", f.Operator)
	}
	out = filter{op: op, path: strings.Split(f.Key, ".")}
	list := slices.Clone(f.Values)
	if f.Value != nil {
		list = append(list, f.Value)
	}
	if op.takes != noValues && len(list) == 0 {
		return out, 0, fmt.Errorf("%s: nothing to compare with", f.Operator)
	}
	if (op.takes == oneNumber || op.takes == boolean) && len(list) != 1 {
		return out, 0, fmt.Errorf("%s: takes one value, found %d", f.Operator, len(list))
	}
	for _, v := range list {
		if err := out.add(v); err != nil {
			return out, 0, fmt.Errorf("%s: %w", f.Operator, err)
		}
	}
	return out, len(list), nil
}

func (f *filter) add(v any) error {
	switch f.op.takes {
	case texts:
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("value %v is no text", v)
		}
		if len([]rune(s)) > maxFilterText {
			return fmt.Errorf("a value has more than %d characters", maxFilterText)
		}
		f.texts = append(f.texts, fold(s))
	case numbers, oneNumber:
		n, ok := number(v)
		if !ok {
			return fmt.Errorf("value %v is no number", v)
		}
		f.floats = append(f.floats, n)
	case ranges:
		pair, _ := v.([]any)
		if len(pair) != 2 {
			return fmt.Errorf("value %v is no range [from, to]", v)
		}
		from, ok1 := number(pair[0])
		to, ok2 := number(pair[1])
		if !ok1 || !ok2 {
			return fmt.Errorf("value %v is no range of numbers", v)
		}
		f.ranges = append(f.ranges, [2]float64{from, to})
	case boolean:
		b, ok := v.(bool)
		if !ok {
			return fmt.Errorf("value %v is neither true nor false", v)
		}
		f.flag = b
	}
	return nil
}

// number is a JSON number, decoded in one way or another.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return math.NaN(), false
}

// matches reports whether an event passes the filter.
func (f *filter) matches(fields *fields) bool {
	v, found := fields.at(f.path)
	if f.op.null {
		return (!found || v == nil) != f.op.negative
	}
	return f.positive(v) != f.op.negative
}

func (f *filter) positive(v any) bool {
	switch v := v.(type) {
	case bool:
		return f.op.takes == boolean && v == f.flag
	case string:
		v = fold(v)
		return slices.ContainsFunc(f.texts, func(want string) bool { return f.op.text(v, want) })
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return false
		}
		return slices.ContainsFunc(f.floats, func(want float64) bool { return f.op.number(n, want) }) ||
			slices.ContainsFunc(f.ranges, func(r [2]float64) bool { return n >= r[0] && n <= r[1] })
	}
	return false
}

// fields are an event's values for filters; data is decoded once, when it is
// asked for.
type fields struct {
	e       *Event
	data    any
	decoded bool
}

// at returns the value at a key: of an attribute, or below data. Attributes are
// found in any case, members of data in their own.
func (f *fields) at(path []string) (v any, found bool) {
	if fold(path[0]) == "data" {
		if !f.decoded {
			f.decoded = true
			f.data = decode(f.e.get("data"))
		}
		v, found = f.data, f.e.get("data") != nil
		for _, name := range path[1:] {
			object, _ := v.(map[string]any)
			v, found = object[name]
			if !found {
				return nil, false
			}
		}
		return v, found
	}
	if len(path) > 1 {
		return nil, false
	}
	for _, m := range f.e.members {
		if strings.EqualFold(m.name, path[0]) {
			return decode(m.raw), true
		}
	}
	return nil, false
}

func decode(raw json.RawMessage) (v any) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	_ = dec.Decode(&v) // it was parsed before; nothing is null
	return v
}

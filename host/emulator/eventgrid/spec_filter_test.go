package eventgrid_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// Each operator with values of every kind: of its own type, of similar types, null,
// lists, objects and missing keys. Positive operators match only what they compare;
// negative ones match everything else.
func TestFilterValues(t *testing.T) {
	t.Parallel()
	values := []string{`5`, `5.0`, `"5"`, `"five"`, `"FIVE"`, `true`, `false`, `"true"`, `null`, `[5]`, `["five"]`, `{"a":5}`, `1e400`, ``}
	list := func(v ...any) []any { return v }
	for _, test := range []struct {
		op     string
		values []any
		match  string // for each of the values; the last is a missing key
	}{
		{"NumberIn", list(5), "yy------------"},
		{"NumberNotIn", list(5), "--yyyyyyyyyyyy"},
		{"NumberLessThan", list(6), "yy------------"},
		{"NumberGreaterThan", list(4), "yy------------"},
		{"NumberLessThanOrEquals", list(5), "yy------------"},
		{"NumberGreaterThanOrEquals", list(5), "yy------------"},
		{"NumberInRange", list(list(5, 6)), "yy------------"},
		{"NumberNotInRange", list(list(5, 6)), "--yyyyyyyyyyyy"},
		{"BoolEquals", list(true), "-----y--------"},
		{"BoolEquals", list(false), "------y-------"},
		{"StringIn", list("five"), "---yy---------"},
		{"StringNotIn", list("five"), "yyy--yyyyyyyyy"},
		{"StringContains", list("IV"), "---yy---------"},
		{"StringNotContains", list("IV"), "yyy--yyyyyyyyy"},
		{"StringBeginsWith", list("FI"), "---yy---------"},
		{"StringNotBeginsWith", list("FI"), "yyy--yyyyyyyyy"},
		{"StringEndsWith", list("VE"), "---yy---------"},
		{"StringNotEndsWith", list("VE"), "yyy--yyyyyyyyy"},
		{"StringIn", list("5", "true"), "--y----y------"},
		{"IsNullOrUndefined", nil, "--------y----y"},
		{"IsNotNull", nil, "yyyyyyyy-yyyy-"},
	} {
		t.Run(test.op+fmt.Sprint(test.values), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", AdvancedFilters: []eventgrid.Filter{{Operator: strings.ToUpper(test.op), Key: "data.deep.key", Values: test.values}}})
			got := ""
			for _, value := range values {
				b.calls = nil
				member := `"key":` + value
				if value == "" {
					member = `"Other":1`
				}
				b.publishTo("orders", `[{"id":"e","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":{"deep":{`+member+`}}}]`, eventgrid.EventGridSchema)
				if len(b.calls) > 0 {
					got += "y"
				} else {
					got += "-"
				}
			}
			if got != test.match {
				t.Errorf("matches %s, want %s for %v", got, test.match, values)
			}
		})
	}
}

// Keys of CloudEvents are its attributes, extensions included, and what is below data.
func TestFilterKeysOfCloudEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.do(func(ctx context.Context) error {
		return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "cloud", InputSchema: eventgrid.CloudEventSchema})
	})
	for key, want := range map[string]string{"id": "c", "source": "/S", "type": "T", "subject": "sub", "ext": "x", "specversion": "1.0", "data.a.b": "deep"} {
		b.do(func(ctx context.Context) error {
			_, err := b.grid.Subscribe(ctx, "cloud", eventgrid.Subscription{Name: key, Function: key, AdvancedFilters: []eventgrid.Filter{{Operator: "StringIn", Key: key, Value: want}}})
			return err
		})
	}
	b.publishTo("cloud", `{"specversion":"1.0","type":"t","source":"/s","id":"C","subject":"SUB","ext":"X","data":{"a":{"b":"Deep"}}}`, eventgrid.CloudEventSchema)
	if len(b.calls) != 7 {
		t.Errorf("%d of 7 keys matched", len(b.calls))
	}
}

// The most that a subscription may ask for: 25 filters, 25 values in all, 512
// characters in each.
func TestFilterLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	many := make([]eventgrid.Filter, 25)
	for i := range many {
		many[i] = eventgrid.Filter{Operator: "StringNotIn", Key: "data.x", Value: strings.Repeat("ä", 512)}
	}
	b.subscribe(eventgrid.Subscription{Name: "filters", Function: "F", AdvancedFilters: many})
	values := make([]any, 25)
	for i := range values {
		values[i] = i
	}
	b.subscribe(eventgrid.Subscription{Name: "values", Function: "G", AdvancedFilters: []eventgrid.Filter{{Operator: "NumberIn", Key: "data.amount", Values: values}}})
	b.publish("e")
	if len(b.calls) != 2 {
		t.Errorf("%d subscriptions got the event, want both", len(b.calls))
	}
	more := append(append([]eventgrid.Filter{}, many[:13]...), eventgrid.Filter{Operator: "NumberIn", Key: "data.x", Values: values[:13]})
	err := b.try(func(ctx context.Context) error {
		_, err := b.grid.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Function: "F", AdvancedFilters: more})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "26 values") {
		t.Errorf("13 and 13 values: %v", err)
	}
}

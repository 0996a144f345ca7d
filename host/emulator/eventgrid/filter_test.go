package eventgrid_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

const filtered = `[{"id":"e","subject":"/Orders/EU/7","eventType":"Shop.Ordered","eventTime":"2029-12-31T23:59:59Z","dataVersion":"2",
	"data":{"n":5,"s":"Hello World","b":true,"null":null,"deep":{"er":"x"},"list":[1,2]}}]`

// Every operator, each with a value that matches, one that does not, and a key that
// is missing: no match for positive operators, a match for negative ones.
func TestFilters(t *testing.T) {
	t.Parallel()
	n := func(v ...any) []any { return v }
	for name, test := range map[string]struct {
		op           string
		key          string
		hit, miss    []any
		whenMissing  bool
		otherKeyType bool // result for a key of another type
	}{
		"NumberIn":                  {"NumberIn", "data.n", n(1, 5), n(1, 4), false, false},
		"NumberNotIn":               {"NumberNotIn", "data.n", n(1, 4), n(1, 5), true, true},
		"NumberLessThan":            {"NumberLessThan", "data.n", n(5.5), n(5), false, false},
		"NumberGreaterThan":         {"NumberGreaterThan", "data.n", n(4), n(5), false, false},
		"NumberLessThanOrEquals":    {"NumberLessThanOrEquals", "data.n", n(5), n(4.9), false, false},
		"NumberGreaterThanOrEquals": {"NumberGreaterThanOrEquals", "data.n", n(5), n(5.1), false, false},
		"NumberInRange":             {"NumberInRange", "data.n", n(n(0, 1), n(5, 6)), n(n(0, 4.5), n(6, 7)), false, false},
		"NumberNotInRange":          {"NumberNotInRange", "data.n", n(n(0, 1)), n(n(0, 1), n(3, 6)), true, true},
		"BoolEquals":                {"BoolEquals", "data.b", n(true), n(false), false, false},
		"StringContains":            {"StringContains", "data.s", n("zz", "LO wo"), n("zz"), false, false},
		"StringNotContains":         {"StringNotContains", "data.s", n("zz"), n("zz", "lo"), true, true},
		"StringBeginsWith":          {"StringBeginsWith", "data.s", n("hel"), n("ello"), false, false},
		"StringNotBeginsWith":       {"StringNotBeginsWith", "data.s", n("ello"), n("HEL"), true, true},
		"StringEndsWith":            {"StringEndsWith", "data.s", n("RLD"), n("worl"), false, false},
		"StringNotEndsWith":         {"StringNotEndsWith", "data.s", n("worl"), n("world"), true, true},
		"StringIn":                  {"StringIn", "data.s", n("a", "hello world"), n("hello"), false, false},
		"StringNotIn":               {"StringNotIn", "data.s", n("hello"), n("HELLO WORLD"), true, true},
		"key id":                    {"StringIn", "id", n("E"), n("f"), false, false},
		"key topic":                 {"StringEndsWith", "topic", n("/orders"), n("/other"), false, false},
		"key subject":               {"StringBeginsWith", "Subject", n("/orders/eu"), n("/x"), false, false},
		"key eventType":             {"StringContains", "eventType", n("order"), n("x"), false, false},
		"key dataVersion":           {"StringIn", "dataversion", n("2"), n("1"), false, false},
		"deep key":                  {"StringIn", "data.deep.er", n("x"), n("y"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try := func(what, key string, values []any, want bool) {
				f := eventgrid.Filter{Operator: test.op, Key: key, Values: values}
				if got := passes(t, eventgrid.Subscription{AdvancedFilters: []eventgrid.Filter{f}}); got != want {
					t.Errorf("%s: %s %s %v: %v, want %v", what, key, test.op, values, got, want)
				}
				if len(values) == 1 {
					f.Value, f.Values = values[0], nil
					if got := passes(t, eventgrid.Subscription{AdvancedFilters: []eventgrid.Filter{f}}); got != want {
						t.Errorf("%s, as value: %v, want %v", what, got, want)
					}
				}
			}
			try("hit", test.key, test.hit, true)
			try("miss", test.key, test.miss, false)
			try("missing key", "data.none.at.all", test.hit, test.whenMissing)
			try("null", "data.null", test.hit, test.whenMissing)
			try("key of another type", "data.deep", test.hit, test.otherKeyType)
			try("list", "data.list", test.hit, test.otherKeyType)
		})
	}
}

func TestNullFilters(t *testing.T) {
	t.Parallel()
	for key, null := range map[string]bool{"data.none": true, "data.null": true, "data.n": false, "data.deep": false, "subject": false, "nope": true, "data.n.x": true, "id.x": true} {
		for op, want := range map[string]bool{"IsNullOrUndefined": null, "IsNotNull": !null} {
			if got := passes(t, eventgrid.Subscription{AdvancedFilters: []eventgrid.Filter{{Operator: op, Key: key}}}); got != want {
				t.Errorf("%s %s: %v, want %v", key, op, got, want)
			}
		}
	}
}

// Types, the ends of subjects, and filters together.
func TestSimpleFilters(t *testing.T) {
	t.Parallel()
	yes, no := eventgrid.Filter{Operator: "IsNotNull", Key: "data.n"}, eventgrid.Filter{Operator: "IsNotNull", Key: "data.none"}
	for name, test := range map[string]struct {
		sub  eventgrid.Subscription
		want bool
	}{
		"none":                   {eventgrid.Subscription{}, true},
		"type":                   {eventgrid.Subscription{IncludedEventTypes: []string{"a", "shop.ordered"}}, true},
		"other type":             {eventgrid.Subscription{IncludedEventTypes: []string{"a", "shop.order"}}, false},
		"begin":                  {eventgrid.Subscription{SubjectBeginsWith: "/orders/eu"}, true},
		"begin by case":          {eventgrid.Subscription{SubjectBeginsWith: "/orders/eu", IsSubjectCaseSensitive: true}, false},
		"begin by case, matched": {eventgrid.Subscription{SubjectBeginsWith: "/Orders/EU", IsSubjectCaseSensitive: true}, true},
		"end":                    {eventgrid.Subscription{SubjectEndsWith: "U/7"}, true},
		"other end":              {eventgrid.Subscription{SubjectEndsWith: "/8"}, false},
		"begin and end":          {eventgrid.Subscription{SubjectBeginsWith: "/orders", SubjectEndsWith: "/8"}, false},
		"and":                    {eventgrid.Subscription{AdvancedFilters: []eventgrid.Filter{yes, yes}}, true},
		"and not":                {eventgrid.Subscription{AdvancedFilters: []eventgrid.Filter{yes, no}}, false},
		"type and filter":        {eventgrid.Subscription{IncludedEventTypes: []string{"x"}, AdvancedFilters: []eventgrid.Filter{yes}}, false},
	} {
		if got := passes(t, test.sub); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// passes reports whether the event gets through a subscription.
func passes(t *testing.T, s eventgrid.Subscription) bool {
	t.Helper()
	b := newBench(t, eventgrid.Rules{})
	s.Name, s.Function = "s", "F"
	b.subscribe(s)
	b.publishTo("orders", filtered, eventgrid.EventGridSchema)
	return len(b.calls) == 1
}

// Subscriptions that are refused.
func TestBadSubscriptions(t *testing.T) {
	t.Parallel()
	many := make([]any, 26)
	for i := range many {
		many[i] = "x"
	}
	filter := func(op string, values ...any) eventgrid.Subscription {
		return eventgrid.Subscription{Name: "s", Function: "F", AdvancedFilters: []eventgrid.Filter{{Operator: op, Key: "data.x", Values: values}}}
	}
	filters := make([]eventgrid.Filter, 26)
	for i := range filters {
		filters[i] = eventgrid.Filter{Operator: "IsNotNull", Key: "id"}
	}
	headers := map[string]string{}
	for _, c := range "abcdefghijk" {
		headers["x-"+string(c)] = ""
	}
	for name, test := range map[string]struct {
		sub  eventgrid.Subscription
		want string
	}{
		"no name":          {eventgrid.Subscription{Function: "F"}, "a name is needed"},
		"nobody":           {eventgrid.Subscription{Name: "s"}, "function or endpoint is needed"},
		"both":             {eventgrid.Subscription{Name: "s", Function: "F", Endpoint: "http://localhost"}, "exclude each other"},
		"attempts":         {eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 31}, "allowed are 1 to 30"},
		"ttl":              {eventgrid.Subscription{Name: "s", Function: "F", EventTimeToLiveInMinutes: 1441}, "allowed are 1 to 1440"},
		"batch":            {eventgrid.Subscription{Name: "s", Function: "F", MaxEventsPerBatch: 5001}, "allowed are 1 to 5000"},
		"batch size":       {eventgrid.Subscription{Name: "s", Function: "F", PreferredBatchSizeInKilobytes: 1025}, "allowed are 1 to 1024"},
		"schema":           {eventgrid.Subscription{Name: "s", Function: "F", EventDeliverySchema: "x"}, "unknown eventDeliverySchema"},
		"foreign web hook": {eventgrid.Subscription{Name: "s", Endpoint: "https://example.com/"}, "not on this machine"},
		"no web hook":      {eventgrid.Subscription{Name: "s", Endpoint: "ftp://localhost/"}, "no http or https URL"},
		"container":        {eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "a/b"}, "neither a container's name nor its resource ID"},
		"headers":          {eventgrid.Subscription{Name: "s", Function: "F", DeliveryHeaders: headers}, "11 delivery headers"},
		"long header":      {eventgrid.Subscription{Name: "s", Function: "F", DeliveryHeaders: map[string]string{"a": strings.Repeat("x", 4097)}}, "at most 4096"},
		"name of a header": {eventgrid.Subscription{Name: "s", Function: "F", DeliveryHeaders: map[string]string{strings.Repeat("x", 257): "v"}}, "header"},
		"operator":         {filter("Equals", 1), `unknown operator "Equals"`},
		"no key":           {eventgrid.Subscription{Name: "s", Function: "F", AdvancedFilters: []eventgrid.Filter{{Operator: "StringIn", Value: "a"}}}, "the key is missing"},
		"no values":        {filter("StringIn"), "nothing to compare with"},
		"two values":       {filter("NumberLessThan", 1, 2), "takes one value"},
		"number for text":  {filter("StringIn", 1), "is no text"},
		"text for number":  {filter("NumberIn", "1"), "is no number"},
		"number for bool":  {filter("BoolEquals", 1), "neither true nor false"},
		"range of one":     {filter("NumberInRange", []any{1}), "is no range"},
		"range of text":    {filter("NumberInRange", []any{"a", "b"}), "is no range"},
		"long text":        {filter("StringIn", strings.Repeat("x", 513)), "more than 512"},
		"too many values":  {filter("StringIn", many...), "26 values"},
		"too many filters": {eventgrid.Subscription{Name: "s", Function: "F", AdvancedFilters: filters}, "26 advanced filters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			err := b.try(func(ctx context.Context) error { _, err := b.grid.Subscribe(ctx, "orders", test.sub); return err })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

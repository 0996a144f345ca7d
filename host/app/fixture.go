package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// A Fixture is a value that host.json gives to an input that is not served, with the
// properties of the binding for which the input has it.
type Fixture struct {
	// When are the texts that properties must have once their expressions have values, by
	// the names of Binding.Props. None: the value is for every attempt.
	When  map[string]string
	Value bindings.Value
}

// Named are the properties, in order, that fixtures tell apart.
func Named(fixtures []Fixture) []string {
	names := map[string]bool{}
	for _, f := range fixtures {
		for name := range f.When {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// aside are the properties that every binding has, and that no condition can name: one
// binding has one of each.
var aside = []string{"name", "type", "direction"} // read only

// fixtures reads what host.json has for an input: a list of values with their conditions,
// or one value.
func (l *indexer) fixtures(f *Function, b *Binding, value any) []Fixture {
	list, isList := value.([]any)
	if !isList || !slices.ContainsFunc(list, conditional) {
		return []Fixture{{Value: fixedValue(value)}}
	}
	var out []Fixture
	for i, element := range list {
		path := fmt.Sprintf("%s[%d]", inputPath(f.Name, b.Name), i)
		of, _ := element.(map[string]any)
		given, hasValue := of["value"]
		when, hasWhen := of["when"]
		conditions, isObject := when.(map[string]any)
		if !hasValue || hasWhen && !isObject {
			l.badFixture(f, path, "", "an object with when (an object) and value", "a list of fixtures has a value for each condition", "")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if name != "when" && name != "value" {
				l.badFixture(f, schemas.JoinPath(path, name), name, "when, value", "a fixture has no such member", schemas.Nearest(name, []string{"when", "value"}))
			}
		}
		out = append(out, Fixture{When: l.conditions(f, b, schemas.JoinPath(path, "when"), conditions), Value: fixedValue(given)})
	}
	return out
}

// conditional reports whether an element of a list is a fixture with a condition, also one
// whose name is misspelt.
func conditional(element any) bool {
	of, _ := element.(map[string]any)
	if _, ok := of["value"]; !ok {
		return false
	}
	for name, when := range of {
		if _, isObject := when.(map[string]any); isObject && name != "value" && schemas.Nearest(name, []string{"when"}) != "" {
			return true
		}
	}
	return false
}

// conditions are the texts that properties of a binding must have.
func (l *indexer) conditions(f *Function, b *Binding, at string, given map[string]any) map[string]string {
	var known []string
	for _, name := range slices.Sorted(maps.Keys(b.Props)) {
		if !slices.Contains(aside, name) {
			known = append(known, name)
		}
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		own, _, ok := document.Member(b.Props, name)
		text := document.ScalarText(given[name])
		_, isText := given[name].(string)
		switch {
		case !ok || slices.Contains(aside, own):
			l.badFixture(f, schemas.JoinPath(at, name), name, strings.Join(known, ", "), "the binding "+schemas.Quote(b.Name)+" has no such property", schemas.Nearest(name, known))
		case text == "" && !isText:
			l.badFixture(f, schemas.JoinPath(at, name), "", "a text, a number, true or false", "a condition compares the text of a property", "")
		default:
			out[own] = text
		}
	}
	return out
}

// badFixture records a fault in host.json that keeps the function of a fixture from running.
func (l *indexer) badFixture(f *Function, path, found, allowed, reason, near string) {
	if found != "" {
		found = schemas.Quote(found)
	}
	if near != "" {
		reason += "; is " + schemas.Quote(near) + " meant?"
	}
	f.record(indexing, l.app.hostDoc.Fault(path, found, allowed, reason))
}

// fixedValue is a value of host.json for an input: a text as it is, everything else as JSON.
func fixedValue(value any) bindings.Value {
	switch value := value.(type) {
	case nil:
		return bindings.Value{}
	case string:
		return bindings.StringValue(value)
	}
	raw, err := json.Marshal(value)
	if err != nil { // it was read from JSON
		panic(err)
	}
	return bindings.JSONValue(raw)
}

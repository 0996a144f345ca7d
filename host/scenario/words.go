package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// serviceEnds are the words for the end of a message that its service decides, or nobody yet.
var serviceEnds = []string{"expired", inWork} // read only

// checkWords finds words of the journal that it never writes: nothing is ever settled so, and
// no record has such a field.
func (s *Scenario) checkWords(faults []*schemas.Fault) []*schemas.Fault {
	settlements, kinds := asText(triggers.AllDecisions()), asText(journal.Kinds())
	ends := append(slices.Clone(settlements), serviceEnds...)
	among := func(at, what, word string, known []string) {
		if word == "" || slices.Contains(known, word) {
			return
		}
		reason := "this is no " + what
		if near := schemas.Meant(word, known); near != "" {
			reason += fmt.Sprintf("; did you mean %q?", near)
		}
		faults = append(faults, s.doc.Fault(at, schemas.Quote(word), strings.Join(known, ", "), reason))
	}
	each := func(at, what string, w *words, known []string) {
		if w == nil {
			return
		}
		among(at, what, w.each, known)
		for i, word := range w.list {
			among(schemas.IndexPath(at, i), what, word, known)
		}
	}
	fields := journalFields()
	look := func(at string, e *expect) {
		for _, name := range slices.Sorted(maps.Keys(e.Functions)) {
			f := e.Functions[name]
			of := schemas.JoinPath(schemas.JoinPath(at, "functions"), name)
			each(schemas.JoinPath(of, "settled"), "settlement", f.Settled, settlements)
			each(schemas.JoinPath(of, "ends"), "end of a message", f.Ends, ends)
		}
		for i, pattern := range e.Journal {
			of := schemas.IndexPath(schemas.JoinPath(at, "journal"), i)
			for _, key := range slices.Sorted(maps.Keys(pattern)) {
				among(schemas.JoinPath(of, key), "field of the journal", key, fields)
				if word, ok := pattern[key].(string); ok && key == "kind" && !isExpression(word) {
					among(schemas.JoinPath(of, key), "kind of a record", word, kinds)
				}
			}
		}
	}
	for i := range s.When {
		at := schemas.IndexPath("when", i)
		step := &s.When[i]
		if step.Expect != nil {
			look(schemas.JoinPath(at, "expect"), step.Expect)
		}
		if a := step.Await; a != nil {
			among(at+".await.kind", "kind of a record", a.Kind, kinds)
			among(at+".await.settled", "settlement", a.Settled, settlements)
		}
		if q := step.Request; q != nil && schemas.Nearest(q.Method, methods) != "" { // others may be an app's own
			among(at+".request.method", "method", strings.ToUpper(q.Method), methods)
		}
	}
	look("then", &s.Then)
	return faults
}

// asText are words of a type of their own.
func asText[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// methods are those of HTTP.
var methods = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"} // read only

// journalFields are the fields of records.
func journalFields() []string {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schemas.Schema(schemas.Journal), &schema); err != nil {
		panic("scenario: " + err.Error()) // it is embedded, and tested
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// meantField says which word was meant by the first one of a pattern that no record has in
// its field.
func meantField(pattern map[string]any, records []journal.Record) string {
	for _, key := range slices.Sorted(maps.Keys(pattern)) {
		word, ok := pattern[key].(string)
		if !ok || isExpression(word) {
			continue
		}
		var have []string
		for i := range records {
			if text, ok := fieldsOf(&records[i])[key].(string); ok && !slices.Contains(have, text) {
				have = append(have, text)
			}
		}
		if slices.Contains(have, word) {
			continue
		}
		if near := nearest(word, have); near != "" {
			return fmt.Sprintf("none has %s %q; did you mean %q?", key, word, near)
		}
	}
	return ""
}

// written looks at the names of functions in what the scenario writes into host.json and the
// settings, and reports whether all of them are of the app.
func (r *run) written() bool {
	host, _ := decoded(r.s.Host).(map[string]any)
	all := r.names()
	for _, p := range r.cast {
		for _, name := range describedIn(p.app().Dir) { // one that the list leaves out
			all.add(aFunction, journal.Qualified(p.name, name), name)
		}
		for _, f := range p.app().Functions {
			all.add(aFunction, f.Name) // as host.json and settings have it
		}
	}
	all.add(aFunction, slices.Collect(maps.Keys(r.s.Functions))...)
	good := true
	function := func(at string, name any) {
		if text, ok := name.(string); ok && text != "" && !all.have(aFunction, text) {
			reason, list := all.unknown(aFunction, text)
			r.mismatch(at, reason, list, schemas.Quote(text), nil)
			good = false
		}
	}
	list, _ := valueAt(host, "functions").([]any)
	for i, name := range list {
		function(schemas.IndexPath("host.functions", i), name)
	}
	topics, _ := valueAt(host, "redeliver", "eventGrid", "topics").([]any)
	for i, topic := range topics {
		subscriptions, _ := valueAt(topic, "subscriptions").([]any)
		for n, subscription := range subscriptions {
			at := schemas.IndexPath(schemas.JoinPath(schemas.IndexPath("host.redeliver.eventGrid.topics", i), "subscriptions"), n)
			function(schemas.JoinPath(at, "function"), valueAt(subscription, "function"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.s.Settings)) {
		if text, ok := appsettings.SwitchedOff(name); ok {
			function(schemas.JoinPath("settings", name), text)
		}
	}
	return good
}

// valueAt follows keys, whose case does not count; nil where there is nothing.
func valueAt(value any, keys ...string) any {
	for _, key := range keys {
		object, _ := value.(map[string]any)
		value = nil
		for name, v := range object {
			if strings.EqualFold(name, key) {
				value = v
			}
		}
	}
	return value
}

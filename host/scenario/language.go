package scenario

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/schemas"
)

// A language is what scenarios can say of the services of a table: the steps that are
// operations, the places of faults, and the expectations of what is held.
type language struct {
	table    ops.Table
	services []*ops.Service
	steps    map[string][]stepOf // by their keys
	schema   *schemas.Extended   // nil: the one of the file says it all
	attached bool                // a worker has functions that the document need not name
}

// A stepOf is an operation that is a step, and its service.
type stepOf struct {
	ops.Deed
	service *ops.Service
}

// own is the language of the services that there are.
var own = sync.OnceValue(func() *language { return languageOf(all.Table()) })

func languageOf(table ops.Table) *language {
	l := &language{table: table, services: table.Services(), steps: map[string][]stepOf{}}
	for _, row := range table {
		for _, op := range (ops.Table{row}).Operations() {
			if op.Step != "" {
				l.steps[op.Step] = append(l.steps[op.Step], stepOf{op, row.Service})
			}
		}
	}
	var raw map[string]any
	if err := json.Unmarshal(schemas.Schema(schemas.Scenario), &raw); err != nil {
		panic("scenario: " + err.Error()) // it is embedded, and tested
	}
	if l.extend(raw) {
		l.schema = schemas.Extend(schemas.Scenario, func(schema map[string]any) { l.extend(schema) })
	}
	return l
}

func (l *language) validate(doc *schemas.Document) []*schemas.Fault {
	if l.schema == nil {
		return doc.Validate(schemas.Scenario)
	}
	return doc.ValidateExtended(l.schema)
}

// holds reports whether a key of an expectation has what entities hold.
func (l *language) holds(key string) bool {
	return slices.ContainsFunc(l.services, func(s *ops.Service) bool { return s.Scene.Held == key })
}

// kindOf is what scenarios call an entity of a service.
func kindOf(s *ops.Service) place { return place(cmp.Or(s.Scene.Kind, s.Noun)) }

// spelled is a name as the service writes it.
func spelled(s *ops.Service, name string) string {
	if s.Scene.Spelled == nil {
		return name
	}
	return s.Scene.Spelled(name)
}

// extend adds to the schema what it does not say yet, and reports whether there was something.
func (l *language) extend(schema map[string]any) (more bool) {
	definitions := schema["definitions"].(map[string]any)
	properties := func(definition string) map[string]any {
		return definitions[definition].(map[string]any)["properties"].(map[string]any)
	}
	add := func(to map[string]any, key string, value map[string]any) {
		if _, ok := to[key]; !ok && key != "" {
			to[key], more = value, true
		}
	}
	steps := properties("step")
	for key, list := range l.steps {
		add(steps, key, map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false, "minProperties": 1})
		of := steps[key].(map[string]any)
		if _, named := of["$ref"]; named {
			of = definitions[key].(map[string]any)
		}
		for _, op := range list {
			for _, m := range op.Members() {
				add(of["properties"].(map[string]any), m.Name, memberSchema(m.Field.Type))
			}
		}
	}
	expect := properties("expect")
	for _, s := range l.services {
		add(properties("fault"), s.Scene.Entity, map[string]any{"type": "string"})
		add(expect, s.Scene.Held, expect["queues"].(map[string]any))
	}
	return more
}

// memberSchema is what a member of a step may be, by the field that it gives.
func memberSchema(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string"}
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{} // a body
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	}
	panic("scenario: no step has a member of type " + t.String())
}

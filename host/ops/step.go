package ops

import (
	"reflect"
	"strings"
)

// A Member is a field of an operation that a step of a scenario gives.
type Member struct {
	Name   string // in the step: "queue"
	Place  bool   // it names the entity: of operations with the same step it says which is meant
	Entity bool   // it names an entity of the service, or is Place
	Field  reflect.StructField
}

// Members are the fields that the operation's step gives.
func (r Route) Members() (list []Member) {
	for _, f := range reflect.VisibleFields(r.In) {
		tag, ok := f.Tag.Lookup("step")
		if !ok || f.Name == "Op" {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		list = append(list, Member{Name: name, Place: option == "place", Entity: option != "", Field: f})
	}
	return list
}

// Place is the member that names the entity; not ok: there is none.
func (r Route) Place() (m Member, ok bool) {
	for _, m := range r.Members() {
		if m.Place {
			return m, true
		}
	}
	return m, false
}

// A Change is an answer that says how much has changed. A step that has changed nothing fails:
// what it was for has not happened.
type Change interface{ Changed() int }

// Changed is how many messages were moved.
func (r Redriven) Changed() int { return r.Moved }

// Changed is how many messages or documents were removed.
func (p Purged) Changed() int { return p.Removed }

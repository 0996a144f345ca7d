package schemas

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Validate checks the document against a schema, and by the rules between
// properties that a schema cannot express, and returns every fault in the order
// of the text; faults of overrides come last. There is at most one fault for a
// path, and of a hopeless file no more than 1000 in all. Call it after the last [Document.Override].
//
// Before the check, spelling and types are read as [Document.Canonical] says.
// Unknown keys are no fault, except inside redeliver of host.json. Of a retry
// policy only values that cannot be converted are reported; retrycontext knows
// the rest. It panics for a name that is not in [Names].
func (d *Document) Validate(name Name) []*Fault { return d.validate(name, load(name)) }

func (d *Document) validate(name Name, c *compiled) []*Fault {
	value := d.canonical(c, noName, nil)
	err := c.schema.Validate(value)
	checks := crossChecks[name]
	if err == nil && len(checks) == 0 {
		return nil
	}
	v := &validation{d: d, c: c, seen: map[string]bool{}}
	if err != nil {
		v.places = map[string]place{}
		value = d.canonical(c, noName, v.places)
		v.schemaFaults(err, value)
	}
	if content, ok := value.(map[string]any); ok {
		for _, check := range checks {
			check(v, content)
		}
	}
	v.order()
	return v.faults
}

// order sorts the faults: the document's own by position, then the faults of each
// override by path. jsonschema reports properties in no order.
func (v *validation) order() {
	slices.SortStableFunc(v.faults, func(a, b *Fault) int {
		switch own := v.d.file; {
		case a.File == b.File && a.Line == 0 && b.Line == 0:
			return strings.Compare(a.Path, b.Path)
		case a.File == own && b.File != own:
			return -1
		case a.File != own && b.File == own:
			return 1
		}
		return strings.Compare(a.File, b.File)
	})
	Sort(v.faults)
}

const maxFaults = 1000 // more is not read

// noName stands for an empty name in what jsonschema checks. It leaves an empty name out of
// the location of a fault below it, which then is another place, or none.
const noName = "\x00(no name)"

// A validation collects the faults of one document.
type validation struct {
	d      *Document
	c      *compiled
	places map[string]place // by instance location
	seen   map[string]bool  // paths that have a fault
	faults []*Fault
}

func (v *validation) full() bool { return len(v.faults) >= maxFaults }

func (v *validation) add(f *Fault) {
	if !v.full() && !v.seen[f.Path] {
		v.seen[f.Path] = true
		v.faults = append(v.faults, f)
	}
}

func (v *validation) schemaFaults(err error, value any) {
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		panic("schemas: " + err.Error()) // values are of encoding/json's types
	}
	v.leaves(failed, value)
}

// leaves reports what failed at the bottom: the causes above only repeat it.
func (v *validation) leaves(failed *jsonschema.ValidationError, value any) {
	for _, cause := range failed.Causes {
		v.leaves(cause, value)
	}
	if len(failed.Causes) > 0 || v.full() {
		return
	}
	_, location, _ := strings.Cut(failed.AbsoluteKeywordLocation, "#")
	l := v.locate(location)
	at, ok := v.places[failed.InstanceLocation]
	if !ok {
		panic("schemas: no place for " + failed.InstanceLocation)
	}
	switch l.keyword {
	case "required":
		v.required(l, at, instance(value, failed.InstanceLocation))
	case "additionalProperties":
		v.unknown(l, at, instance(value, failed.InstanceLocation))
	default:
		if l.partial && !slices.Contains([]string{"type", "enum", "const", "format"}, l.keyword) {
			return
		}
		f := v.d.faultAt(at.node, at.path, at.node.found(), l.allowed(), l.reason(at.node))
		f.Kind, f.Hint = v.kind(l), l.hint()
		if near := Nearest(at.node.text, texts(l.schema()["enum"])); f.Hint == "" && l.keyword == "enum" && near != "" {
			f.Hint = "did you mean " + Quote(near) + "?"
		}
		v.add(f)
	}
}

// required reports each missing property at the object that lacks it.
func (v *validation) required(l location, at place, have any) {
	if l.partial {
		return
	}
	for _, name := range texts(l.schema()["required"]) {
		if _, ok := object(have)[name]; ok {
			continue
		}
		p := l.property(name, v.c.raw)
		f := v.d.faultAt(at.node, JoinPath(at.path, name), "", p.allowed(), p.reason(nil))
		f.Kind, f.Hint = v.kind(p), p.hint()
		v.add(f)
	}
}

// unknown reports each key that a closed object does not know.
func (v *validation) unknown(l location, at place, have any) {
	known := object(l.schema()["properties"])
	names := slices.Sorted(maps.Keys(known))
	for _, m := range at.node.members {
		key := m.key
		_, isKnown := known[key]
		if _, given := object(have)[cmp.Or(key, noName)]; isKnown || !given {
			continue
		}
		if v.full() {
			return
		}
		path := JoinPath(at.path, key)
		f := v.d.faultAt(m.value, path, Quote(key), strings.Join(names, ", "), "unknown name")
		f.Kind = v.kind(l)
		if near := Nearest(key, names); near != "" {
			f.Hint = "did you mean " + Quote(near) + "?"
		}
		v.add(f)
	}
}

// instance follows an instance location.
func instance(value any, location string) any {
	for _, key := range splitLocation(location) {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, ok := listIndex(key)
			if !ok || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

func splitLocation(location string) []string {
	if location == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(location, "/"), "/")
	for i, part := range parts {
		if s, err := url.PathUnescape(part); err == nil {
			part = s
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

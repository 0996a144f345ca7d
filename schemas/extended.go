package schemas

import "encoding/json"

// An Extended is a schema with more than its file has.
type Extended struct {
	name Name
	with *compiled
}

// Extend adds to a schema what change writes into its JSON. It panics when that is no schema.
func Extend(name Name, change func(schema map[string]any)) *Extended {
	raw := decodeSchema(name)
	change(raw)
	text, err := json.Marshal(raw)
	if err != nil {
		panic("schemas: " + err.Error())
	}
	return &Extended{name, compileAs(name, raw, text)}
}

// ValidateExtended is Validate against a schema that was extended.
func (d *Document) ValidateExtended(e *Extended) []*Fault { return d.validate(e.name, e.with) }

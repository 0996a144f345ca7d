package schemas

// Validate checks the document against a schema and returns every fault, in the
// order of the text.
func (d *Document) Validate(name Name) []*Fault { return nil }

// Canonical returns the document with the spelling and the types of a schema.
func (d *Document) Canonical(name Name) map[string]any {
	m, _ := d.Value().(map[string]any)
	return m
}

package schemas

import (
	"encoding/json"
	"strings"
)

// Keywords of our own in the schemas. JSON Schema lets other readers ignore
// them.
const (
	// keyCase "exact": the key of this property counts only in this letter case.
	keyCase = "x-case"
	// keyEmpty "unset": empty text means that the property was not given, because
	// the platform's type can be null. Time spans and times are so by nature.
	keyEmpty = "x-empty"
	// keyList "comma": text with commas is taken for a list.
	keyList = "x-list"
	// keySpan limits a time span: {minimum, maximum, above, also}; above excludes
	// its own value, also lists values outside the limits that are allowed.
	keySpan = "x-span"
	// keyPartial true: Validate reports values of the wrong type, and leaves what
	// is missing or out of range to a caller that knows more.
	keyPartial = "x-partial"
	// keyEffect "none": the value is checked, and changes nothing here.
	keyEffect = "x-effect"
	// keyKind is the platform's error kind: text for this schema and all below
	// it, or an object from failed keyword to kind for this schema alone.
	keyKind = "x-kind"
	// keyAllowed and keyReason are the texts of faults, keyReason for all
	// keywords or by keyword, keyHint what to do.
	keyAllowed = "x-allowed"
	keyReason  = "x-reason"
	keyHint    = "x-hint"
)

// A shape has the parts of a schema that the reading of a document needs:
// names, types, and how spelling may differ. Schemas are not recursive, so
// neither are shapes.
type shape struct {
	types      []string
	words      map[string]string // lower case to spelling, of an enum or const
	format     string
	emptyUnset bool
	commaList  bool
	closed     bool   // no other properties
	idle       bool   // without effect
	chosenBy   string // of a variant: the word that chooses it

	properties map[string]property // by lower-case name
	additional *shape
	items      *shape
	variants   map[string]*shape // by lower-case value of variantKey
	variantKey string
}

type property struct {
	name  string
	exact bool
	*shape
}

func (s *shape) takes(typ string) bool {
	for _, t := range s.types {
		if t == typ {
			return true
		}
	}
	return len(s.types) == 0
}

// property finds the property that a key means. The variant, which may be nil,
// goes first.
func (s *shape) property(key string, variant *shape) (property, bool) {
	lower := strings.ToLower(key)
	for _, from := range []*shape{variant, s} {
		if from == nil {
			continue
		}
		if p, ok := from.properties[lower]; ok && (!p.exact || p.name == key) {
			return p, true
		}
	}
	return property{}, false
}

// newShape reads a schema. root is the whole schema file, for references.
func newShape(schema, root map[string]any) *shape {
	schema = dereference(schema, root)
	s := &shape{types: texts(schema["type"]), words: map[string]string{}}
	s.format, _ = schema["format"].(string)
	s.emptyUnset = schema[keyEmpty] == "unset" || s.format == formatTimeSpan || s.format == formatUTC
	s.commaList = schema[keyList] == "comma"
	s.closed = schema["additionalProperties"] == false
	s.idle = schema[keyEffect] == "none"
	for _, word := range append(texts(schema["enum"]), texts(schema["const"])...) {
		s.words[strings.ToLower(word)] = word
	}
	if properties := object(schema["properties"]); properties != nil {
		s.properties = make(map[string]property, len(properties))
		for name, sub := range properties {
			p := property{name: name, exact: object(sub)[keyCase] == "exact", shape: newShape(object(sub), root)}
			s.properties[strings.ToLower(name)] = p
		}
	}
	if additional := object(schema["additionalProperties"]); additional != nil {
		s.additional = newShape(additional, root)
	}
	if items := object(schema["items"]); items != nil {
		s.items = newShape(items, root)
	}
	s.readVariants(schema, root)
	return s
}

// readVariants understands the one use that our schemas make of allOf to choose
// properties: {if: {properties: {KEY: {const: WORD}}}, then: SCHEMA}, which may
// stand in groups.
func (s *shape) readVariants(schema, root map[string]any) {
	list, _ := schema["allOf"].([]any)
	for _, item := range list {
		then := dereference(object(object(item)["then"]), root)
		s.readVariants(then, root)
		if then["properties"] == nil {
			continue
		}
		for key, sub := range object(object(object(item)["if"])["properties"]) {
			for _, word := range texts(object(sub)["const"]) {
				if s.variants == nil {
					s.variants, s.variantKey = map[string]*shape{}, key
				}
				if p, ok := s.properties[strings.ToLower(key)]; ok {
					p.words[strings.ToLower(word)] = word
				}
				chosen := newShape(then, root)
				chosen.chosenBy = word
				s.variants[strings.ToLower(word)] = chosen
			}
		}
	}
}

func dereference(schema, root map[string]any) map[string]any {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	return object(object(root["definitions"])[strings.TrimPrefix(ref, "#/definitions/")])
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// texts returns the text, or the texts of a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// decodeSchema decodes an embedded schema with numbers as json.Number.
func decodeSchema(name Name) map[string]any {
	d := json.NewDecoder(strings.NewReader(string(Schema(name))))
	d.UseNumber()
	var schema map[string]any
	if err := d.Decode(&schema); err != nil {
		panic("schemas: " + string(name) + ": " + err.Error()) // embedded, and tested
	}
	return schema
}

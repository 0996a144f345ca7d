package schemas

import (
	"encoding/json"
	"slices"
	"strings"
)

// Keywords of our own in the schemas. JSON Schema lets other readers ignore
// them.
const (
	// keyCase "exact": the key of this property counts only in this letter case.
	keyCase = "x-case"
	// keyEmpty "unset": empty text means that the property was not given, because
	// the platform's type can be null. Outside configuration time spans and times are
	// so by nature.
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
	// keyOthers "no-effect": so has every property that the schema does not name.
	keyOthers = "x-others"
	// keyConvert "or-unset": a value that cannot be converted counts as not given.
	keyConvert = "x-convert"
	// keyNumbers lists the words of an enum of .NET by number: a file may say the
	// number, also as text, and several words with commas between them, which are one
	// number together. keyOtherwise is the word that any other number stands for, or
	// "unset": it counts as not given. keyCast lists the other kinds of values that .NET
	// casts to a number of this enum: "boolean", "fraction".
	keyNumbers   = "x-numbers"
	keyOtherwise = "x-otherwise"
	keyCast      = "x-cast"
	// keyNull "empty": null is the empty text; "refused": it is no value.
	keyNull = "x-null"
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
	numbers    []string          // words of an enum of .NET, by number
	otherwise  string
	casts      []string
	ofNull     string
	format     string
	emptyUnset bool
	orUnset    bool
	schema     map[string]any // for the texts of a value that counts as not given
	demanding  bool           // an object that is refused without some of its properties
	commaList  bool
	closed     bool   // no other properties
	idle       bool   // without effect
	othersIdle bool   // so are the properties that it does not know
	own        bool   // of this program: the platform does not read it
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

// single reports whether the shape is of a value that holds no others.
func (s *shape) single() bool {
	return len(s.types) > 0 && !slices.Contains(s.types, "object") && !slices.Contains(s.types, "array")
}

func (s *shape) span() bool { return s.format == formatTimeSpan || s.format == formatUTC }

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
func newShape(schema, root map[string]any) *shape { return readShape(schema, root, false) }

// readShape reads the schema of a part. own says that it is of this program.
func readShape(schema, root map[string]any, own bool) *shape {
	idle := schema[keyEffect] == "none" // also beside a reference
	schema = dereference(schema, root)
	s := &shape{types: texts(schema["type"]), words: map[string]string{}, schema: schema, own: own || schema[keyKind] == ""}
	s.format, _ = schema["format"].(string)
	s.numbers = texts(schema[keyNumbers])
	s.otherwise, _ = schema[keyOtherwise].(string)
	s.casts = texts(schema[keyCast])
	s.ofNull, _ = schema[keyNull].(string)
	s.emptyUnset = schema[keyEmpty] == "unset"
	s.othersIdle = schema[keyOthers] == "no-effect"
	s.orUnset = schema[keyConvert] == "or-unset"
	s.demanding = schema["required"] != nil && schema[keyPartial] != true && !s.own
	s.commaList = schema[keyList] == "comma"
	s.closed = schema["additionalProperties"] == false
	s.idle = idle || schema[keyEffect] == "none"
	for _, word := range append(texts(schema["enum"]), texts(schema["const"])...) {
		s.words[strings.ToLower(word)] = word
	}
	if properties := object(schema["properties"]); properties != nil {
		s.properties = make(map[string]property, len(properties))
		for name, sub := range properties {
			p := property{name: name, exact: object(sub)[keyCase] == "exact", shape: readShape(object(sub), root, s.own)}
			s.properties[strings.ToLower(name)] = p
		}
	}
	if additional := object(schema["additionalProperties"]); additional != nil {
		s.additional = readShape(additional, root, s.own)
	}
	if items := object(schema["items"]); items != nil {
		s.items = readShape(items, root, s.own)
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
				chosen := readShape(then, root, s.own)
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

package all_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
)

// typed is the text of types.ts, which has what the control API answers as the page reads it.
func typed(table ops.Table, words map[string]string) string {
	var b strings.Builder
	b.WriteString("/**\n * What the control API answers. go test ./host/ops/all -run TestControlTable -update writes it from\n * the operations.\n */\n")
	_, schemas := paths(table, words)
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schema := schemas[name].(object)
		fmt.Fprintf(&b, "\n%sexport interface %s %s\n", comment(schema, ""), name, members(schema, ""))
	}
	return b.String()
}

func comment(schema object, indent string) string {
	words, _ := schema["description"].(string)
	if words == "" {
		return ""
	}
	return indent + "/** " + words + " */\n"
}

func members(schema object, indent string) string {
	var b strings.Builder
	b.WriteString("{\n")
	required, _ := schema["required"].([]string)
	properties := schema["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property := properties[name].(object)
		optional := "?"
		if slices.Contains(required, name) {
			optional = ""
		}
		fmt.Fprintf(&b, "%s%s  %s%s: %s;\n", comment(property, indent+"  "), indent, name, optional, typeOf(property))
	}
	return b.String() + indent + "}"
}

// typeOf is the type of a value that has a schema.
func typeOf(schema object) string {
	if ref, ok := schema["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if of, ok := schema["anyOf"].([]any); ok {
		return typeOf(of[0].(object)) + " | null"
	}
	switch schema["type"] {
	case "string", "boolean":
		return schema["type"].(string)
	case "integer", "number":
		return "number"
	case "array":
		return strings.TrimSuffix(typeOf(schema["items"].(object)), " | null") + "[]" // pointers in lists lead to something
	case "object":
		return "Record<string, " + typeOf(schema["additionalProperties"].(object)) + ">"
	}
	return "unknown"
}

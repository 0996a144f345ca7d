package mcp

import (
	"maps"
	"slices"
	"strings"
)

// omitted is what stands in the place of an answer that is longer than MaxAnswer.
const omitted = "omitted"

// output is the JSON Schema of the tool's answers, or nil when one of its ways tells none: a
// client may refuse an answer without one. Descriptions are left out.
func (t *Tool) output() map[string]any {
	defs, names := map[string]any{}, []string{}
	for i := range t.Ways {
		w := &t.Ways[i]
		if w.Answer == "" {
			return nil
		}
		define(w.Answer, defs)
		if def, ok := defs[w.Answer].(map[string]any); ok && w.Part {
			delete(def, "required")
		}
		if !slices.Contains(names, w.Answer) {
			names = append(names, w.Answer)
		}
	}
	choice := []any{}
	for _, name := range names {
		choice = append(choice, map[string]any{"$ref": "#/$defs/" + name})
	}
	choice = append(choice, map[string]any{"required": []string{omitted}, "properties": map[string]any{omitted: map[string]any{"type": "string"}}})
	return map[string]any{"type": "object", "anyOf": choice, "$defs": defs}
}

// define adds a schema of the control API, and those to which it refers.
func define(name string, defs map[string]any) {
	if _, ok := defs[name]; ok {
		return
	}
	schema := maps.Clone(described().schemas[name])
	if schema == nil {
		panic("the control API has no schema " + name)
	}
	defs[name] = schema // it may refer to itself
	for key, value := range schema {
		schema[key] = referring(value, defs)
	}
	delete(schema, "description")
}

// referring is a part of a schema whose references are to what defs has.
func referring(part any, defs map[string]any) any {
	switch part := part.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range part {
			ref, isText := value.(string)
			switch {
			case key == "$ref" && isText:
				name := ref[strings.LastIndexByte(ref, '/')+1:]
				define(name, defs)
				out[key] = "#/$defs/" + name
			case key == "description" && isText:
			default:
				out[key] = referring(value, defs)
			}
		}
		return out
	case []any:
		out := make([]any, len(part))
		for i := range part {
			out[i] = referring(part[i], defs)
		}
		return out
	}
	return part
}

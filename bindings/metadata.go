package bindings

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
)

// parentIDProperty is the property by which the platform ties a message to the
// invocation that wrote it.
const parentIDProperty = "$AzureWebJobsParentId"

// ApplyJSON merges the top-level properties of body into a trigger's metadata
// if body is one JSON object, and does nothing otherwise. A property wins over
// metadata of the same name, in any case, and takes that name's spelling.
// Scalars become strings, objects stay JSON (json.RawMessage); arrays and nulls
// are left out.
//
// Source: functions host, Utility.cs ApplyBindingData: the rule for functions
// outside .NET. It spells booleans True and False, as here. Strings that look
// like dates keep their text, which the original's JSON library reformats.
func ApplyJSON(metadata map[string]any, body []byte) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') || !json.Valid(body) {
		return
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return
		}
		var v any
		switch value[0] {
		case '[', 'n':
			continue
		case '{':
			v = value
		default:
			v = scalarText(value)
		}
		key, known := findKey(metadata, name.(string))
		if !known {
			key = name.(string)
		}
		metadata[key] = v
	}
}

// ParentID returns the invocation that wrote a message, from the property
// $AzureWebJobsParentId of a JSON object body; empty if there is none or it is
// no GUID. It is for display only.
func ParentID(body []byte) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	var id string
	if json.Unmarshal(object[parentIDProperty], &id) != nil {
		return ""
	}
	if _, err := ParseGUID(id); err != nil {
		return ""
	}
	return id
}

// findKey returns the key of m that equals name, in any case: the exact
// spelling first, else the first in order.
func findKey[V any](m map[string]V, name string) (string, bool) {
	if _, ok := m[name]; ok {
		return name, true
	}
	var keys []string
	for k := range m {
		if strings.EqualFold(k, name) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return "", false
	}
	sort.Strings(keys)
	return keys[0], true
}

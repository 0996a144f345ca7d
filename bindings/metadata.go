package bindings

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"
)

// parentIDProperty is the property by which the platform ties a message to the
// invocation that wrote it.
const parentIDProperty = "$AzureWebJobsParentId"

// ApplyJSON merges the top-level properties of body into a trigger's metadata
// if body is one JSON object, and does nothing otherwise. A property wins over
// metadata of the same name, in any case, and takes that name's spelling.
// Scalars become strings as .NET writes them, objects stay JSON (json.RawMessage); arrays
// and nulls are left out. It reads what the platform's JSON library reads, so that a text
// that looks like a date becomes one, with an offset in the zone of this machine:
// 01/02/2020 03:04:05.
//
// Source: functions host, Utility.cs ApplyBindingData: the rule for functions
// outside .NET.
func ApplyJSON(metadata map[string]any, body []byte) { applyJSON(metadata, body, time.Local) }

func applyJSON(metadata map[string]any, body []byte, zone *time.Location) {
	object, err := readNetObject(string(body), zone)
	if err != nil || slices.ContainsFunc(object.members, func(m netMember) bool { return m.value.kind == netConstructor }) {
		return // the platform's conversion fails as a whole
	}
	for _, m := range object.members {
		var v any
		switch m.value.kind {
		case netScalar:
			v = m.value.text
		case netObject:
			v = json.RawMessage(m.value.raw)
		default:
			continue
		}
		key, known := findKey(metadata, m.name)
		if !known {
			key = m.name
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

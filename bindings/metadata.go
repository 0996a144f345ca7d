package bindings

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/netjson"
)

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
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return // not even a comment may stand around it
	}
	v, err := netjson.Parse(text, zone)
	object, ok := v.(*netjson.Object)
	if err != nil || !ok || slices.ContainsFunc(object.Members, isConstructor) {
		return // the platform's conversion fails as a whole
	}
	for _, m := range object.Members {
		var v any
		switch m.Value.(type) {
		case nil, netjson.Undefined, []any:
			continue
		case *netjson.Object:
			v = json.RawMessage(netjson.Strict(m.Value))
		default:
			v = netjson.Text(m.Value)
		}
		key, known := findKey(metadata, m.Name)
		if !known {
			key = m.Name
		}
		metadata[key] = v
	}
}

func isConstructor(m netjson.Member) bool {
	_, is := m.Value.(*netjson.Constructor)
	return is
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

package scenario

import (
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// checkContains finds {contains: ""} and its kin: everything contains nothing.
func (s *Scenario) checkContains(at string, value any, faults []*schemas.Fault) []*schemas.Fault {
	switch value := value.(type) {
	case map[string]any:
		part, ok := value["contains"]
		if ok && len(value) == 1 && strings.HasPrefix(at, "then") || ok && len(value) == 1 && strings.Contains(at, ".expect") {
			if part == nil || part == "" || emptyOf(part) {
				faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "contains"), "", "a text, or properties of an object", "it expects nothing"))
			}
			return faults
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			faults = s.checkContains(schemas.JoinPath(at, key), value[key], faults)
		}
	case []any:
		for i, v := range value {
			faults = s.checkContains(schemas.IndexPath(at, i), v, faults)
		}
	}
	return faults
}

func emptyOf(part any) bool {
	object, isObject := part.(map[string]any)
	list, isList := part.([]any)
	return isObject && len(object) == 0 || isList && len(list) == 0
}

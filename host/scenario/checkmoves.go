package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// checkMoves finds steps that name no place, or several.
func (s *Scenario) checkMoves(at string, st *step, faults []*schemas.Fault) []*schemas.Fault {
	one := func(key string, places map[string]string) {
		var named []string
		for _, name := range slices.Sorted(maps.Keys(places)) {
			if places[name] != "" {
				named = append(named, name)
			}
		}
		if len(named) != 1 {
			allowed := "one of " + strings.Join(slices.Sorted(maps.Keys(places)), ", ")
			faults = append(faults, s.doc.Fault(schemas.JoinPath(at, key), strings.Join(named, ", "), allowed, fmt.Sprintf("the step names %d places", len(named))))
		}
	}
	if of := st.Redrive; of != nil {
		one("redrive", map[string]string{"queue": of.Queue, "serviceBus": of.ServiceBus, "eventGrid": of.EventGrid})
		if of.To != "" && of.Queue == "" {
			faults = append(faults, s.doc.Fault(at+".redrive.to", schemas.Quote(of.To), "only of a queue", "messages of other services go back to where they came from"))
		}
	}
	if of := st.Purge; of != nil {
		one("purge", map[string]string{"queue": of.Queue, "serviceBus": of.ServiceBus, "container": of.Container, "cosmos": of.Cosmos})
	}
	if of := st.SendEvents; of != nil && of.Partition != nil && of.Key != "" {
		faults = append(faults, s.doc.Fault(at+".sendEvents.partition", "", "one of them", "events go to the partition of their key"))
	}
	return faults
}

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

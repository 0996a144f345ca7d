package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/timespan"
)

// entities are what the services have at the start.
type entities struct {
	ServiceBus struct {
		Queues map[string]map[string]any `json:"queues"`
		Topics map[string]map[string]any `json:"topics"`
	} `json:"serviceBus"`
	Queues     []string `json:"queues"`
	Containers []string `json:"containers"`
	EventHubs  []string `json:"eventHubs"`
	Cosmos     []string `json:"cosmos"`
}

// entitiesFile is the name under which the app gets its entities.
const entitiesFile = "scenario-entities.json"

// config are the entities in the form of the official emulator's Config.json; nil when
// there are none.
func (e *entities) config() map[string]any {
	bus := &e.ServiceBus
	if len(bus.Queues) == 0 && len(bus.Topics) == 0 {
		return nil
	}
	namespace := map[string]any{"Name": "sbemulatorns"}
	if len(bus.Queues) > 0 {
		namespace["Queues"] = entityList(bus.Queues)
	}
	if len(bus.Topics) > 0 {
		namespace["Topics"] = entityList(bus.Topics)
	}
	return map[string]any{"UserConfig": map[string]any{"Namespaces": []any{namespace}}}
}

// entityList are entities as Config.json lists them. The subscriptions of a topic stand
// beside its properties, and so do the rules of a subscription.
func entityList(named map[string]map[string]any) (list []any) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		entity, properties := map[string]any{"Name": name}, map[string]any{}
		for key, value := range named[name] {
			switch key {
			case "subscriptions":
				entity["Subscriptions"] = subscriptionList(value)
				continue
			case "rules":
				entity["Rules"] = ruleList(value)
				continue
			}
			properties[strings.ToUpper(key[:min(1, len(key))])+key[min(1, len(key)):]] = isoSpan(value)
		}
		entity["Properties"] = properties
		list = append(list, entity)
	}
	return list
}

func subscriptionList(value any) []any {
	named := map[string]map[string]any{}
	given, _ := value.(map[string]any)
	for name, properties := range given {
		named[name], _ = properties.(map[string]any)
	}
	return entityList(named)
}

// ruleList are the rules of a subscription: SQL filters by name.
func ruleList(value any) (list []any) {
	named, _ := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		list = append(list, map[string]any{"Name": name, "Properties": map[string]any{
			"FilterType": "Sql", "SqlFilter": map[string]any{"SqlExpression": named[name]},
		}})
	}
	return list
}

// isoSpan writes a span as Config.json has it; other values stay.
func isoSpan(value any) any {
	text, ok := value.(string)
	if !ok || strings.HasPrefix(text, "P") {
		return value
	}
	if d, err := timespan.Parse(text); err == nil {
		return fmt.Sprintf("PT%gS", d.Seconds())
	}
	return value
}

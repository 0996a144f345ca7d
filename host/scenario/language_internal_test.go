package scenario

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// The schema that editors read says all that the services' rows add to scenarios, and no step of
// an operation has members there that the operation has not.
func TestSchemaHasTheServices(t *testing.T) {
	t.Parallel()
	if own().schema != nil {
		t.Error("schemas/scenario.json lacks a step, a place of a fault or an expectation of host/ops/all")
	}
	var schema struct {
		Definitions map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(schemas.Schema(schemas.Scenario), &schema); err != nil {
		t.Fatal(err)
	}
	for key, list := range own().steps {
		for member := range schema.Definitions[key].Properties {
			if !hasForm(key) && !slices.ContainsFunc(list, func(s stepOf) bool { return s.has(member) }) {
				t.Errorf("step %s: no operation has the member %s", key, member)
			}
		}
		if len(schema.Definitions[key].Properties) == 0 {
			t.Errorf("step %s has no members in the schema", key)
		}
	}
}

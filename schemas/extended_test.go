package schemas_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// A schema that was extended takes what was added, and finds the slip of it; the others stay as
// they are.
func TestExtended(t *testing.T) {
	t.Parallel()
	extended := schemas.Extend(schemas.Scenario, func(schema map[string]any) {
		step := schema["definitions"].(map[string]any)["step"].(map[string]any)
		step["properties"].(map[string]any)["ring"] = map[string]any{"type": "string"}
	})
	for _, test := range []struct{ step, plain, extended string }{
		{`{"ring": "door"}`, "ring", ""},
		{`{"rng": "door"}`, "rng", "ring, scaleIn"},
		{`{"ring": 7}`, "ring", "ring"},
		{`{"settle": true}`, "", ""},
	} {
		doc, fault := schemas.Parse("a.scenario.json", []byte(`{"when": [`+test.step+`], "then": {"lints": []}}`))
		if fault != nil {
			t.Fatal(fault)
		}
		for want, faults := range map[string][]*schemas.Fault{test.plain + " ": doc.Validate(schemas.Scenario), test.extended: doc.ValidateExtended(extended)} {
			var got strings.Builder
			for _, f := range faults {
				got.WriteString(f.Error())
			}
			if want = strings.TrimSpace(want); want == "" && len(faults) > 0 || !strings.Contains(got.String(), want) || want != "" && len(faults) == 0 {
				t.Errorf("%s: %q, want %q in it", test.step, got.String(), want)
			}
		}
	}
}

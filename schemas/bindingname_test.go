package schemas_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

// TestBindingNames: spec host-and-retry 5.3 row name, as of host 4.1038 (host: Utility.cs,
// BindingNameValidationRegex; pull request 10764).
func TestBindingNames(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"a": true, "A1": true, "my_timer": true, "_x": true, "a_1_b": true, "_": true, "a_": true, "_1a": true, "_1_": true, "$return": true,
		strings.Repeat("a", 128): true, "_" + strings.Repeat("b", 127): true, strings.Repeat("a_", 64): true,
		"my__timer": false, "__x": false, "__": false, "a__": false, "1a": false, "a-b": false, "a b": false, "a.b": false, "ä": false,
		"$returns": false, "$Return": false, "$": false, "": false,
		strings.Repeat("a", 129): false, strings.Repeat("a_", 64) + "b": false,
	} {
		text := fmt.Sprintf(`{"bindings":[{"type":"queueTrigger","queueName":"q","name":%q,"direction":"in"}]}`, name)
		if name == "$return" {
			text = strings.Replace(text, `"queueTrigger","queueName":"q"`, `"http"`, 1)
			text = strings.Replace(text, `"in"`, `"out"`, 1)
		}
		faults := parse(t, "function.json", text).Validate(schemas.FunctionJSON)
		if got := len(faults) == 0; got != valid {
			t.Errorf("name %q: valid %v, want %v: %v", name, got, valid, faults)
		}
		for _, f := range faults {
			if f.Reason != "not a valid binding name" || f.Kind != schemas.KindArgument {
				t.Errorf("name %q: %v", name, f)
			}
		}
	}
}

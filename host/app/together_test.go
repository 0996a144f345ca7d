package app_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/app"
)

// What several functions have in common is told once, and names them: a kind that is not
// served, and a lint about the one policy of host.json.
func TestToldOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{"host.json": `{"version": "2.0", "retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01"}}`}
	for _, name := range []string{"A", "B", "C"} {
		files[name+"/function.json"] = `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "` + strings.ToLower(name) + `-orders"},
			{"type": "kusto", "direction": "out", "name": "row"}]}`
	}
	a := load(t, files, nil)
	var rows []app.Warning
	for _, w := range a.Told() {
		if strings.Contains(w.Reason, "does not serve") {
			rows = append(rows, w)
		}
	}
	if len(rows) != 1 || !strings.HasSuffix(rows[0].Error(), "; the same of B, C") {
		t.Errorf("told %v, want one that names B and C", rows)
	}
	var text bytes.Buffer
	if err := app.Check(a).Write(&text); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{"does not serve": 1, "; the same of B, C": 1, "  L-1 ": 1, "retry  (A, B, C)": 2} { // L-15 too
		if got := strings.Count(text.String(), want); got != n {
			t.Errorf("%q stands there %d times, want %d:\n%s", want, got, n, &text)
		}
	}
}

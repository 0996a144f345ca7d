package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// FuzzParse: no scenario file panics, and every fault has a reason.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../testdata/scenarios/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("{\"\": 1}\n---\n- a: &x [*x]\n"))
	f.Add([]byte("steps: [{send: {queue: orders}}]\nexpect: {ends: {}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, faults := scenario.Parse("a.scenario.yaml", text)
		for _, fault := range faults {
			if fault.Reason == "" {
				t.Errorf("fault without a reason: %#v", fault)
			}
		}
	})
}

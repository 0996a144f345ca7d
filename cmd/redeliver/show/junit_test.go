package show

import (
	"path/filepath"
	"testing"

	"github.com/joshdk/go-junit"

	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/schemas"
)

// A parser written by others finds the right numbers and texts in the report.
func TestJUnit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.xml")
	of := func(name string) *scenario.Scenario { return &scenario.Scenario{File: "a.scenario.yaml", Name: name} }
	results := []*scenario.Result{
		{Scenario: of("passed <&>")},
		{Scenario: of("failed"), Failures: []scenario.Failure{{File: "a.scenario.yaml", Line: 3, Message: "other\x00 messages", Want: "1", Got: "2"}}},
		{Scenario: of("skipped"), Skipped: "later"},
		{Scenario: &scenario.Scenario{File: "b.scenario.yaml", Name: "passed too"}},
	}
	faults := []*schemas.Fault{{File: "c.scenario.yaml", Line: 1, Column: 1, Reason: "the file holds no scenario"}}
	if err := WriteJUnit(file, results, faults); err != nil {
		t.Fatal(err)
	}
	suites, err := junit.IngestFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got junit.Totals
	status := map[string]junit.Status{}
	for _, s := range suites {
		got.Tests += s.Totals.Tests
		got.Passed += s.Totals.Passed
		got.Failed += s.Totals.Failed
		got.Skipped += s.Totals.Skipped
		got.Error += s.Totals.Error
		for _, c := range s.Tests {
			status[c.Name] = c.Status
		}
	}
	if got.Tests != 5 || got.Passed != 2 || got.Failed != 1 || got.Skipped != 1 || got.Error != 1 || len(suites) != 3 {
		t.Errorf("%d suites, %+v", len(suites), got)
	}
	for name, want := range map[string]junit.Status{"passed <&>": junit.StatusPassed, "failed": junit.StatusFailed, "skipped": junit.StatusSkipped, "the file": junit.StatusError} {
		if status[name] != want {
			t.Errorf("%q is %q, want %q", name, status[name], want)
		}
	}
}

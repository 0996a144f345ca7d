package conventions_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each row of testdata/mutants.tsv breaks a rule by replacing one text of one file. The
// text is there, once; and with REDELIVER_MUTANTS set the suite of scenarios catches each.
func TestMutants(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/mutants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < 12 {
		t.Errorf("%d mutants, want at least 12", len(rows))
	}
	for _, row := range rows {
		columns := strings.Split(row, "\t")
		if len(columns) != 4 {
			t.Errorf("%q: %d columns, want 4", row, len(columns))
			continue
		}
		rule, file, text, instead := columns[0], columns[1], columns[2], columns[3]
		source, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(source), text); n != 1 {
			t.Errorf("%s: %s has %q %d times, want it once", rule, file, text, n)
			continue
		}
		if os.Getenv("REDELIVER_MUTANTS") == "" {
			continue
		}
		t.Run(strings.ReplaceAll(rule, " ", "_"), func(t *testing.T) {
			caught(t, file, strings.Replace(string(source), text, instead, 1))
		})
	}
}

// caught runs the scenarios with another content of a file. They have to fail.
func caught(t *testing.T, file, content string) {
	t.Helper()
	dir := t.TempDir()
	mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	whole, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{mutant: []byte(content), overlay: replace} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, suite := range []string{"./host/scenario", "./host/hosttest"} { // the second one for what scenarios let pass
		cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-timeout", "5m", "-overlay", overlay, "-run", "TestFounding|TestInvariants|TestScripts|TestKillAt|TestFalsePasses|TestRightScenarios|TestEndsAre|TestNames|TestMisspelt|TestAbsent|TestSayings|TestNothingElse|TestUnloaded|TestWorkerOf|TestLooks|TestCopyOfLinks|TestReloadRefused|TestCallsThat|TestOptionsThat", suite)
		out, err := cmd.CombinedOutput()
		if err == nil {
			continue
		}
		if strings.Contains(string(out), "[build failed]") || !strings.Contains(string(out), "--- FAIL") {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	t.Error("nothing has caught it")
}

package conventions_test

import (
	"os"
	"regexp"
	"testing"
)

// "go install github.com/redeliver/redeliver/cmd/redeliver@VERSION" refuses a module that
// replaces or excludes another one.
func TestModuleCanBeInstalled(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := directive.Find(text); m != nil {
		t.Errorf("go.mod has a line %q: go install of a version refuses it", m)
	}
	for _, line := range []string{"replace a => b", "replace (\n\ta => b\n)", "exclude a v1.0.0"} {
		if !directive.MatchString("module x\n" + line + "\n") {
			t.Errorf("%q would not be seen", line)
		}
	}
}

var directive = regexp.MustCompile(`(?m)^(?:replace|exclude)\b.*$`) // read only

package conventions_test

import (
	"os"
	"strings"
	"testing"
)

// TestLinesOnce: no entry of the changelog, no decision and no rule of the index stands twice, as a
// merge that keeps both sides leaves them.
func TestLinesOnce(t *testing.T) {
	for name, counts := range map[string]func(line string) bool{
		"CHANGELOG.md": func(line string) bool { return strings.HasPrefix(line, "- ") },
		"docs/design.md": func(line string) bool {
			return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| -") && line != "| Decision | Reason |"
		},
		"testdata/rules.tsv": func(line string) bool { return line != "" },
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first := map[string]int{}
		for i, line := range strings.Split(string(text), "\n") {
			entry := strings.TrimRight(line, ". ")
			if at, twice := first[entry]; twice && counts(line) {
				t.Errorf("%s:%d: stands at line %d already: %s", name, i+1, at, line)
			} else if !twice {
				first[entry] = i + 1
			}
		}
	}
}

// The changelog tells users what a release changed for them: without a release there is
// nothing to tell, and a decision stands in docs/design.md.
func TestChangelogBeginsWithARelease(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "\n- ") && !strings.Contains(string(text), "\n## [0.") && !strings.Contains(string(text), "\n## [1.") {
		t.Error("CHANGELOG.md has entries, and no release yet: a decision with its reason goes to docs/design.md, the rest is in the commits")
	}
}

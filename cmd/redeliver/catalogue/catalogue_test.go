package catalogue_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/cmd/redeliver/catalogue"
)

var update = flag.Bool("update", false, "write the page of troubleshooting")

// The page is what the table says.
func TestPage(t *testing.T) {
	t.Parallel()
	const file = "../../../docs/help/troubleshooting.md"
	want := catalogue.Page()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("%s is not what the table says (go test ./cmd/redeliver/catalogue -update writes it; -want +got):\n%s", file, diff)
	}
}

// No identity is used twice, each has a cause, a mend and a line that was printed, and that line
// leads to no other entry.
func TestEntries(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^R-[1-9]\d*$`)
	seen := map[string]bool{}
	for _, s := range catalogue.Sections() {
		for _, e := range s.Entries {
			if e.Sentence == "" || e.Cause == "" {
				t.Errorf("%+v has no sentence or no cause", e)
			}
			if e.ID == "" {
				if e.Fix != "" || e.Example != "" {
					t.Errorf("%q is a symptom, with a mend or an example of its own", e.Sentence)
				}
				continue
			}
			if !form.MatchString(e.ID) || seen[e.ID] {
				t.Errorf("%s: no identity, or one that is used twice", e.ID)
			}
			seen[e.ID] = true
			if e.Fix == "" {
				t.Errorf("%s has no mend", e.ID)
			}
			if got, _ := catalogue.Find(e.Example + "\n"); got.ID != e.ID {
				t.Errorf("%q is found as %q, want %s", e.Example, got.ID, e.ID)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d identities", len(seen))
	}
}

// What is said otherwise, and what is said in another order, is not known.
func TestFindOfWhatIsUnknown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "the port is free", "is in use: port 7071", "names a blob"} {
		if e, ok := catalogue.Find(text); ok {
			t.Errorf("%q is found as %s", text, e.ID)
		}
	}
}

package judge_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables of testdata from what the platform's host does")

// open is the reason of a difference that nobody has judged yet.
const open = "OPEN"

// A golden is a table, a file of testdata. Its first line names its columns: what is done, what the
// platform makes of it, then, where Redeliver differs on purpose, why, and what it makes
// of it instead. A cell that has a control character or begins with a quotation mark is a
// JSON text.
type golden struct {
	path   string
	head   []string
	inputs int // columns that say what is done
	rows   []row
}

type row struct {
	in, want  []string
	why       string
	different []string
}

// expected is what Redeliver makes of a row.
func (r row) expected() []string {
	if r.why != "" {
		return r.different
	}
	return r.want
}

// readTable reads a table of which inputs columns say what is done, and outputs what came.
func readTable(t *testing.T, path string, inputs, outputs int) *golden {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	tab := &golden{path: path, head: strings.Split(strings.TrimPrefix(lines[0], "# "), "\t"), inputs: inputs}
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		for j, c := range cells {
			if strings.HasPrefix(c, `"`) {
				if err := json.Unmarshal([]byte(c), &cells[j]); err != nil {
					t.Fatalf("%s:%d: %v", path, i+2, err)
				}
			}
		}
		r := row{}
		switch n := len(cells); {
		case n == inputs && *update:
			r.in = cells
		case n == inputs+outputs:
			r.in, r.want = cells[:inputs], cells[inputs:]
		case n == inputs+outputs+1+outputs:
			r.in, r.want, r.why, r.different = cells[:inputs], cells[inputs:inputs+outputs], cells[inputs+outputs], cells[n-outputs:]
		default:
			t.Fatalf("%s:%d: %d cells", path, i+2, n)
		}
		tab.rows = append(tab.rows, r)
	}
	return tab
}

// write writes the table.
func (tab *golden) write(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# " + strings.Join(tab.head, "\t") + "\n")
	for _, r := range tab.rows {
		cells := slices.Concat(r.in, r.want)
		if r.why != "" {
			cells = slices.Concat(cells, []string{r.why}, r.different)
		}
		for i, c := range cells {
			if strings.HasPrefix(c, `"`) || strings.ContainsFunc(c, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }) {
				text, _ := json.Marshal(c) // a text
				cells[i] = string(text)
			}
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	if err := os.WriteFile(tab.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// judge holds what Redeliver made of each row against the table, and, where the
// platform's host is at hand, which a variable of the environment says, that too.
func (tab *golden) judge(t *testing.T, variable string, ours [][]string, theirs func(*testing.T) [][]string) {
	t.Helper()
	named := os.Getenv(variable) != ""
	if named && variable == judgeVariable {
		if err := prove(t); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		var seen [][]string
		if named {
			if seen = theirs(t); t.Failed() {
				t.Fatalf("%s stays as it is: not every row was asked", tab.path)
			}
		}
		for i := range tab.rows {
			r := &tab.rows[i]
			if named {
				r.want = seen[i]
			}
			switch {
			case len(r.want) == 0: // nobody was asked
			case slices.Equal(r.want, ours[i]):
				r.why, r.different = "", nil
			case r.why == "":
				r.why = open
				fallthrough
			default:
				r.different = ours[i]
			}
		}
		tab.write(t)
	}
	for i, r := range tab.rows {
		switch diff := cmp.Diff(r.expected(), ours[i]); {
		case r.why == open:
			t.Errorf("%s: %q differs from the platform, and nobody has said why (-platform +Redeliver):\n%s", tab.path, r.in, cmp.Diff(r.want, ours[i]))
		case r.why != "" && slices.Equal(r.want, ours[i]):
			t.Errorf("%s: %q is as on the platform: the row need not say %q", tab.path, r.in, r.why)
		case diff != "":
			t.Errorf("%s: %q (-want +got):\n%s", tab.path, r.in, diff)
		}
	}
	t.Run("platform", func(t *testing.T) {
		switch {
		case !named:
			t.Skipf("the variable %s names no host of the platform; what it did is in %s", variable, tab.path)
		case *update:
			return // it was asked above
		}
		for i, seen := range theirs(t) {
			if diff := cmp.Diff(tab.rows[i].want, seen); diff != "" {
				t.Errorf("%s: %q (-table +platform):\n%s", tab.path, tab.rows[i].in, diff)
			}
		}
	})
}

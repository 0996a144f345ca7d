//clock:outside the processes of the tests are of the real world

package judge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A command that starts no host of the platform judges nothing: it neither passes nor
// changes a table. (A host that ends at once is also what some apps make of it.)
func TestBrokenCommands(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"no such program": filepath.Join(t.TempDir(), "nowhere") + " {app} {port}",
		"ends at once":    program + " -test.list=^$",
		"fails at once":   program + " -test.nonsense",
	} {
		for _, args := range [][]string{nil, {"-update"}} {
			t.Run(name+" "+strings.Join(args, ""), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				table := filepath.Join(dir, "testdata", "hostjson.tsv")
				const rows = "# host.json\thost\tfunction\n[]\tError\t\n{\tError\t\n"
				if err := os.MkdirAll(filepath.Dir(table), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(table, []byte(rows), 0o644); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(program, append([]string{"-test.run=^TestHostFiles$"}, args...)...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), judgeVariable+"="+command)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Errorf("it passes:\n%s", out)
				}
				if !strings.Contains(string(out), judgeVariable) {
					t.Errorf("it does not name %s:\n%s", judgeVariable, out)
				}
				if text, err := os.ReadFile(table); err != nil || string(text) != rows {
					t.Errorf("the table is now %q, %v", text, err)
				}
			})
		}
	}
}

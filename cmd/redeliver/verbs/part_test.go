package verbs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A download removes only the part that a killed one has left beside the same file:
// not the part of a running process, nor other files that look like it.
func TestPartsOfTheDeadGo(t *testing.T) {
	t.Parallel()
	dead := exec.Command(os.Args[0], "-test.run", "^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	gone := fmt.Sprintf("state.%d.part", dead.Process.Pid)
	stay := []string{fmt.Sprintf("state.%d.part", os.Getppid()), "state.x.part", "other." + fmt.Sprint(dead.Process.Pid) + ".part", "state.part"}
	for _, name := range append(stay, gone) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := writeFile(filepath.Join(dir, "state"), strings.NewReader("text")); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(stay, "state") {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is not there: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, gone)); err == nil {
		t.Errorf("%s is still there", gone)
	}
}

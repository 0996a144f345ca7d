package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A clone with the line ends of Windows is the module too, and an app made from it
// has the same files.
func TestModuleWithWindowsLines(t *testing.T) {
	t.Parallel()
	unix, windows := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := readLines(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for dir, text := range map[string]string{unix: text, windows: strings.ReplaceAll(text, "\n", "\r\n")} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !isModule(windows) {
		t.Error("it is not taken for the module")
	}
	mod, sum, err := moduleFiles("shop", source{dir: windows})
	if err != nil {
		t.Fatal(err)
	}
	wantMod, wantSum, err := moduleFiles("shop", source{dir: unix})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.ReplaceAll(mod, windows, unix), wantMod; got != want || sum != wantSum {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if strings.Count(mod, "// indirect") < 10 {
		t.Errorf("requirements are missing:\n%s", mod)
	}
}

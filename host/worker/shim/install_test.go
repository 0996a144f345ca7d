package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/worker/shim"
)

// The workers run where they are written, whatever the folders above that hold, and
// whatever the folder and the environment that they are compiled in. The tests of this file
// set the environment, so that they do not run beside others.
func TestInstall(t *testing.T) {
	root := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "ein Benützer", ".cache"))
	for name, text := range map[string]string{
		"package.json": `{"type":"module"}`, "tsconfig.json": `{"compilerOptions":{"module":"nodenext","allowJs":true}}`,
		"pyvenv.cfg": "home = /nowhere\n", "json.py": "raise SystemExit(1)\n", "sitecustomize.py": "raise SystemExit(1)\n",
		"String.java": "public class String {}\n", "module-info.java": "module no {}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("node", func(t *testing.T) { startNode(t, "classic", "").init(t.TempDir()) })
	t.Run("python", func(t *testing.T) {
		interpreter, err := command(t, "python3", "-c", "import sys; print(sys.executable)")
		if err != nil {
			t.Skip(err)
		}
		python{interpreter: interpreter}.start(t, app(t, "v1")).init(app(t, "v1"))
	})
	t.Run("java", func(t *testing.T) {
		javac, err := exec.LookPath("javac")
		if err != nil {
			t.Skip(err)
		}
		t.Setenv("CLASSPATH", root)
		t.Setenv("JDK_JAVAC_OPTIONS", "--no-such-option")
		t.Chdir(root)
		one, _ := shim.Of("java")
		source, err := one.Install()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(source, root) {
			t.Errorf("the worker is in %q, want it below %q", source, root)
		}
		for range 2 { // once by the compiler
			if _, _, err := shim.CompileJava(t.Context(), javac, source); err != nil {
				t.Error(err)
			}
			javac = "no-compiler"
		}
	})
}

// A file that was changed is written again, and a new version has a folder of its own.
func TestInstallAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	one, _ := shim.Of("node")
	entry, err := one.Install()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entry, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := one.Install()
	if got, _ := os.ReadFile(again); err != nil || again != entry || string(got) != string(want) {
		t.Errorf("Install = %q, %v, with %d bytes; want %q with %d", again, err, len(got), entry, len(want))
	}
	other := one
	other.Files = os.DirFS(filepath.Join("testdata", "node", "stream"))
	other.Entry = "start.js"
	if again, err := other.Install(); err != nil || filepath.Dir(again) == filepath.Dir(entry) {
		t.Errorf("Install of other files = %q, %v, want another folder than %q", again, err, filepath.Dir(entry))
	}
}

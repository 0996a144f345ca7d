//clock:outside runs compilers and tests in Java

package java_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit/java"
	"github.com/redeliver/redeliver/host/worker/javatest"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

const libraries = javatest.Interop(interop)

// patience is how long a build or a run of tests may take, in real time.
const patience = 10 * time.Minute

// The library has what it shares with the worker, and not its program.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := java.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"io/github/redeliver/testing/RedeliverHost.java": true, "io/github/redeliver/worker/UserFunction.java": true,
		"RedeliverWorker.java": false, "AppJar.java": false, "org": false, "tests": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// jars are those of a folder of make interop, absolute; a test is skipped where one is missing.
func jars(t *testing.T, folder string, names ...string) (list []string) {
	t.Helper()
	for _, name := range names {
		found, _ := filepath.Glob(filepath.Join(interop, folder, name+"-[0-9]*.jar"))
		if len(found) == 0 {
			if javatest.Required() {
				t.Fatalf("%s is not in %s, and REDELIVER_INTEROP is required; run make interop", name, interop)
			}
			t.Skipf("%s is not in %s; run make interop", name, interop)
		}
		path, err := filepath.Abs(found[0])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}

// project are the tests in Java, compiled with the kit.
type project struct {
	dir, path, program, staged string
}

// compiled makes the project; change changes a source by its name in the folder tests.
func compiled(t *testing.T, change map[string]func(string) string) project {
	t.Helper()
	libraries.Need(t)
	path := jars(t, "javafunctions", "azure-functions-java-library", "azure-functions-java-core-library")
	path = append(path, jars(t, "javakit", "junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params", "junit-platform-commons", "junit-platform-engine", "junit-platform-launcher",
		"junit-platform-reporting", "junit-platform-console", "opentest4j", "apiguardian-api", "mockito-core", "byte-buddy", "byte-buddy-agent", "objenesis")...)
	p := project{dir: filepath.Join(t.TempDir(), "with blanks, ü")}
	kit, tests := filepath.Join(p.dir, "kit"), filepath.Join(p.dir, "tests")
	if err := java.Build(t.Context(), "javac", kit); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(tests, os.DirFS("tests")), os.Mkdir(filepath.Join(p.dir, "classes"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range change {
		text, err := os.ReadFile(filepath.Join(tests, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(tests, name), []byte(edit(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cases, err := os.ReadFile("../../../testdata/kit/conformance.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(tests, "conformance.json"), cases, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.path = strings.Join(append([]string{filepath.Join(p.dir, "classes"), filepath.Join(kit, "classes")}, path...), string(os.PathListSeparator))
	args := []string{"-Xlint:all", "-Werror", "--release", "11", "-encoding", "UTF-8", "-proc:none", "-d", filepath.Join(p.dir, "classes"), "-cp", p.path}
	sources, _ := filepath.Glob(filepath.Join(tests, "shop", "*.java"))
	more, _ := filepath.Glob(filepath.Join(tests, "io", "github", "redeliver", "testing", "*.java"))
	if out, err := exec.CommandContext(t.Context(), "javac", append(append(args, sources...), more...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.program = filepath.Join(p.dir, "redeliver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", p.program, "../../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// stage makes of the shop what the platform's build for Maven makes.
func (p *project) stage(t *testing.T) {
	t.Helper()
	source, to := filepath.Join(p.dir, "shop"), filepath.Join(p.dir, "staged")
	for _, name := range []string{"shop/Carrier.java", "shop/ShipFunctions.java", "host.json", "local.settings.json"} {
		text, err := os.ReadFile(filepath.Join("tests", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(source, name)
		if strings.HasSuffix(name, ".java") {
			path = filepath.Join(source, "src", "main", "java", filepath.FromSlash(name))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := libraries.Stage(source, to); err != nil {
		t.Fatal(err)
	}
	if err := libraries.Libraries(to, javatest.Interfaces); err != nil {
		t.Fatal(err)
	}
	p.staged = to
}

// junit runs tests, all side by side.
func (p *project) junit(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience) //clock:outside a runner that does not end
	defer cancel()
	own, err := filepath.Abs(filepath.Join("src", "io", "github", "redeliver", "testing"))
	if err != nil {
		t.Fatal(err)
	}
	soak := os.Getenv("REDELIVER_SOAK")
	if soak == "" {
		soak = "20"
	}
	rounds := os.Getenv("REDELIVER_KILLS")
	if rounds == "" {
		rounds = "2"
	}
	all := []string{"-XX:TieredStopAtLevel=1", "-Druns=" + soak, "-Dkills=" + rounds, "-Dkit.sources=" + own, "-Dstaged=" + p.staged, "-cp", p.path, "org.junit.platform.console.ConsoleLauncher", "execute",
		"--disable-banner", "--disable-ansi-colors", "--details=tree",
		"--config=junit.jupiter.execution.parallel.enabled=true", "--config=junit.jupiter.execution.parallel.mode.default=concurrent", "--config=junit.jupiter.execution.parallel.config.strategy=fixed", "--config=junit.jupiter.execution.parallel.config.fixed.parallelism=4"}
	cmd := exec.CommandContext(ctx, "java", append(all, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(p.dir, "tests"), append(os.Environ(), "REDELIVER_BINARY="+p.program)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The tests of the kit, in Java, against the program: the founding examples, the cases of all
// kits, every public name, what dies, hangs and is debugged; side by side.
func TestJUnit(t *testing.T) {
	t.Parallel()
	p := compiled(t, nil)
	p.stage(t)
	if out, err := p.junit(t, "--scan-classpath="+filepath.Join(p.dir, "classes")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The founding examples with wrong numbers fail, with what was wanted, what was found, what has
// happened, and the seed.
func TestWrongNumbers(t *testing.T) { // it sets the environment
	wrong := strings.NewReplacer("nCopies(10, 5)", "nCopies(10, 4)", "List.of(1, 1, 1, 1, 1)", "List.of(1, 1, 1, 1)", `host.poisoned("Pack");
            assertEquals(List.of(3, 5, 5, 5, 5)`, `host.poisoned("Pack");
            host.expect(then -> then.deliveries("Pack", 3, 5, 5, 5)); assertEquals(List.of(3, 5, 5, 5, 5)`)
	p := compiled(t, map[string]func(string) string{"shop/ShipTest.java": wrong.Replace})
	keep := filepath.Join(p.dir, "kept")
	t.Setenv("REDELIVER_KEEP", keep)
	out, err := p.junit(t, "--select-class=shop.ShipTest")
	if err == nil {
		t.Fatalf("nothing has failed\n%s", out)
	}
	for _, want := range []string{
		"expected: <[4, 4, 4, 4, 4, 4, 4, 4, 4, 4]> but was: <[5, 5, 5, 5, 5, 5, 5, 5, 5, 5]>",
		"expected: <[1, 1, 1, 1]> but was: <[1, 1, 1, 1, 1]>",
		"want  [3 5 5 5]", "got   [3 5 5 5 5]", "seed 1; again with REDELIVER_SEED=1", "3 tests failed",
		"message m7 of parcels, function Ship (serviceBusTrigger)", "attempt 1 of 5 failed: IllegalStateException: carrier unavailable", `booking {"id":7}, retry 4`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	if text, err := os.ReadFile(filepath.Join(keep, "shop.ShipTest.fiftyAttemptsThenDeadLetter.jsonl")); err != nil || !strings.Contains(string(text), `"kind":"dead_lettered"`) {
		t.Errorf("the journal that was kept: %v, %d bytes", err, len(text))
	}
}

// filesOf are the files of a folder by their names.
func filesOf(dir fs.FS) (map[string]string, error) {
	out := map[string]string{}
	return out, fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(dir, name)
		out[name] = string(text)
		return err
	})
}

// The compiler makes the same classes twice, and none of what stands in for JUnit.
func TestBuild(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("javac"); err != nil {
		if javatest.Required() {
			t.Fatalf("%v, and REDELIVER_INTEROP is required", err)
		}
		t.Skip("there is no JDK here")
	}
	var all [2]map[string]string
	for i := range all {
		dir := t.TempDir()
		if err := java.Build(t.Context(), "javac", dir); err != nil {
			t.Fatal(err)
		}
		found, err := filesOf(os.DirFS(filepath.Join(dir, "classes")))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = found
	}
	if len(all[0]) < 40 || fmt.Sprint(all[0]) != fmt.Sprint(all[1]) {
		t.Errorf("%d classes, and others than before", len(all[0]))
	}
	for name := range all[0] {
		if !strings.HasPrefix(name, "io/github/redeliver/") {
			t.Errorf("%s is not the kit's", name)
		}
	}
}

// The example of docs/kits/java.md is the founding test, word for word.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/kits/java.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ShipFunctions.java", "ShipTest.java"} {
		text, err := os.ReadFile(filepath.Join("tests", "shop", name))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, block := range strings.Split(string(page), "```java\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			found = found || len(block) > 300 && strings.Contains(string(text), block)
		}
		if !found {
			t.Errorf("no block of the page is in %s", name)
		}
	}
}

package csharp_test

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit/csharp"
	"github.com/redeliver/redeliver/host/worker/dotnettest"
)

// patience is how long a build or a run of tests may take, in real time.
const patience = 10 * time.Minute

// The sources are those of the packages, without tests and without what a build leaves.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := csharp.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"Directory.Build.props": true, "src/Redeliver.Testing/RedeliverHost.cs": true, "src/Redeliver.Testing/Internal/KitHttp.cs": true,
		"src/Redeliver.Testing/buildTransitive/Redeliver.Testing.targets": true, "src/Redeliver.Testing.Worker/AttachedApp.cs": true,
		"tests": false, "src/Redeliver.Testing/obj": false, "src/Redeliver.Testing/bin": false, "package.go": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// built are the tests in C#, and what they run with.
type built struct {
	sdk, dir, program string
}

// build builds the program and the tests, or ends a test on a machine without .NET.
func build(t *testing.T) (b built) {
	t.Helper()
	sdk, err := dotnettest.SDK()
	if err != nil && dotnettest.Required() {
		t.Fatalf("%v, and %s is required", err, dotnettest.RequiredVariable)
	}
	if err != nil {
		t.Skip(err)
	}
	if b.sdk, err = filepath.EvalSymlinks(sdk); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	b.dir, b.program = filepath.Join(base, "with blanks, ü"), filepath.Join(base, "redeliver")
	if runtime.GOOS == "windows" {
		b.program += ".exe"
	}
	conformance, err := filepath.Abs("../../../testdata/kit/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(b.dir, sources{os.DirFS(".")}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "tests", "Redeliver.Testing.Tests", "ShipTests.cs"), []byte(block(t, "`ShipTests.cs`:\n\n```csharp\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		dir  string
		args []string
	}{
		{".", []string{"go", "build", "-trimpath", "-o", b.program, "../../../cmd/redeliver"}},
		{filepath.Join(b.dir, "tests", "Redeliver.Testing.Tests"), []string{b.sdk, "build", "-nodeReuse:false", "-p:UseSharedCompilation=false", "-p:RedeliverConformance=" + conformance}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, one.args[0], one.args[1:]...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = one.dir, b.environment(), 10*time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return b
}

// sources is a file system without what a build has left in it.
type sources struct{ fs.FS }

func (s sources) ReadDir(name string) (list []fs.DirEntry, err error) {
	all, err := fs.ReadDir(s.FS, name)
	for _, e := range all {
		if e.Name() != "bin" && e.Name() != "obj" {
			list = append(list, e)
		}
	}
	return list, err
}

func (b built) environment() []string {
	return append(os.Environ(), "DOTNET_ROOT="+filepath.Dir(b.sdk), "REDELIVER_BINARY="+b.program, "MSBUILDDISABLENODEREUSE=1")
}

// command runs the tests.
func (b built) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{"exec", filepath.Join(b.dir, "tests", "Redeliver.Testing.Tests", "bin", "Debug", "net10.0", "Redeliver.Testing.Tests.dll"), "-noColor", "-noLogo"}, args...)
	cmd := exec.CommandContext(ctx, b.sdk, args...)
	cmd.Env = b.environment()
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// block is a block of the kit's page.
func block(t *testing.T, begin string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/kits/csharp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), begin)
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatalf("the page has no block behind %q", begin)
	}
	return text
}

// The tests of the kit, in C#, against the program, with the page's.
func TestDotnet(t *testing.T) {
	t.Parallel()
	b := build(t)
	t.Run("all", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if out, err := b.command(ctx, "-class-", "Shop.Tests.ShipTests").CombinedOutput(); err != nil || !strings.Contains(string(out), "Failed: 0") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("page", b.page)
	t.Run("killed", b.killed)
}

// page: the first test of the page fails, as it is printed there; the app is ours.
func (b built) page(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := b.command(ctx, "-class", "Shop.Tests.ShipTests").CombinedOutput()
	if err == nil {
		t.Errorf("the first test of the page passes:\n%s", out)
	}
	rest := string(out)
	for line := range strings.Lines(block(t, "$ dotnet test\n")) {
		line = strings.TrimSpace(line)
		if line == "..." || line == "" {
			continue
		}
		at := strings.Index(rest, line)
		if at < 0 {
			t.Fatalf("the output lacks %q, or has it elsewhere:\n%s", line, out)
		}
		rest = rest[at+len(line):]
	}
	app, err := os.ReadFile("tests/Shop/Functions.cs")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(block(t, "its carrier is away:\n\n```csharp\n")) {
		if !strings.Contains(string(app), strings.TrimSpace(line)) {
			t.Errorf("the app of the page has another line %q", line)
		}
	}
}

// killed: a test process that is killed with -9 leaves no process and no file. All that it
// starts has the end of a pipe, which is read here until nobody has it any more.
func (b built) killed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no kill -9, and no pipe that every child has")
	}
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("REDELIVER_KILLS"), "2"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		held, end, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		temporary := t.TempDir()
		cmd := b.command(t.Context(), "-explicit", "only", "-method", "*.Endless", "-showLiveOutput")
		cmd.Env = append(cmd.Env, "TMPDIR="+temporary, "DOTNET_EnableDiagnostics=0")
		cmd.ExtraFiles = []*os.File{end}
		said, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = end.Close()
		lines := bufio.NewScanner(said)
		for rest := round * 7 % 50; rest >= 0 && lines.Scan(); {
			if strings.Contains(lines.Text(), "round ") {
				rest--
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		_, _ = io.Copy(io.Discard, held)
		_ = held.Close()
		left, err := os.ReadDir(temporary)
		if err != nil || len(left) > 0 {
			t.Errorf("round %d: %v is left, %v", round, left, err)
		}
	}
}

package csharp_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// The tests of the kit, in C#, against the program.
func TestDotnet(t *testing.T) {
	t.Parallel()
	b := build(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := b.command(ctx).CombinedOutput(); err != nil || !strings.Contains(string(out), "Failed: 0") {
		t.Errorf("%v\n%s", err, out)
	}
}

package gobuild_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/internal/gobuild"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/app\n\ngo 1.24\n")
	write(t, dir, "main.go", "package main\n\nfunc main() { print(\"built\") }\n")
	target := filepath.Join(dir, ".redeliver", "bin", gobuild.Name("1"))
	if err := gobuild.Build(context.Background(), dir, target, os.Environ()); err != nil {
		t.Fatalf("Build: %v", err)
	}
	out, err := exec.Command(target).CombinedOutput()
	if err != nil || string(out) != "built" {
		t.Errorf("the built program printed %q, %v", out, err)
	}

	write(t, dir, "main.go", "package main\n\nfunc main() { undefined() }\n")
	err = gobuild.Build(context.Background(), dir, target, os.Environ())
	var failed *gobuild.Error
	if !errors.As(err, &failed) {
		t.Fatalf("Build of a broken program = %v, want *gobuild.Error", err)
	}
	if want := "main.go:3:15: undefined: undefined"; failed.Output != want {
		t.Errorf("Output = %q, want %q", failed.Output, want)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("the last good program is gone: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(target), "building-*")); len(left) > 0 {
		t.Errorf("builds left %q", left)
	}
}

// A file name holds the beginning of a fingerprint only.
func TestName(t *testing.T) {
	t.Parallel()
	const print = "0123456789abcdef"
	if got := strings.TrimSuffix(gobuild.Name(print+print+print+print), ".exe"); got != "handler-"+print {
		t.Errorf("Name = %q, want 16 digits", got)
	}
}

func TestBuildWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := gobuild.Build(context.Background(), t.TempDir(), filepath.Join(t.TempDir(), "x"), nil)
	if !errors.Is(err, gobuild.ErrNoGo) || !strings.Contains(err.Error(), "defaultExecutablePath") {
		t.Errorf("Build = %v, want ErrNoGo with a way out", err)
	}
}

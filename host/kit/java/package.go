//clock:outside runs a compiler

// Package java has the sources of the Java library redeliver-testing, the test kit: those in the
// folder src, and those of the worker that the kit shares with it (package shim), which are
// nowhere a second time.
//
// Read [Build]; [Document] makes the pages of the classes. docs/kits/java.md says what the kit is for. The folder standin has what the kit
// calls of JUnit, so that it compiles without.
package java

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/shim"
)

//go:embed src standin
var sources embed.FS // read only

// release is the version of Java for which the kit is compiled: any later one runs it.
const release = "11"

// library is where the worker has what the kit shares; the rest is the worker's program.
const library = "io/"

// Write writes the sources of the library into a folder without them.
func Write(dir string) error {
	worker, ok := shim.Of(languages.Java)
	if !ok {
		return fmt.Errorf("there is no worker for %s", languages.Java)
	}
	own, err := fs.Sub(sources, "src")
	if err == nil {
		err = os.CopyFS(dir, own)
	}
	if err != nil {
		return err
	}
	return worker.Write(dir, func(name string) string {
		if !strings.HasPrefix(name, library) {
			return ""
		}
		return name
	})
}

// Build writes what the jars have into folders below dir: sources, and classes, which the
// compiler of the JDK makes. The same compiler makes the same bytes.
func Build(ctx context.Context, javac, dir string) error {
	from, to := filepath.Join(dir, "sources"), filepath.Join(dir, "classes")
	if err := errors.Join(Write(from), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	standin, done, err := unpacked()
	if err != nil {
		return err
	}
	defer done()
	args := []string{"-Xlint:all", "-Werror", "--release", release, "-encoding", "UTF-8", "-proc:none", "-implicit:none", "-g", "-sourcepath", standin, "-cp", to, "-d", to}
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".java") {
			args = append(args, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, javac, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "JDK_JAVAC_OPTIONS=") })
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the test kit for Java cannot be compiled: %w: %s; a JDK %s or later is needed", err, out, release)
	}
	return nil
}

// unpacked is a folder with the stand-ins of what the sources name, until done is called.
func unpacked() (standin string, done func(), err error) {
	dir, err := os.MkdirTemp("", "standin")
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	if err := os.CopyFS(dir, sources); err != nil {
		done()
		return "", nil, err
	}
	return filepath.Join(dir, "standin"), done, nil
}

// Document writes the pages of what Build has written, for the jar of javadoc, into the folder
// javadoc below dir. They have no index and no search, which need scripts of others. The same
// tool makes the same bytes.
func Document(ctx context.Context, javadoc, dir string) error {
	standin, done, err := unpacked()
	if err != nil {
		return err
	}
	defer done()
	path := filepath.Join(dir, "sources") + string(os.PathListSeparator) + standin
	cmd := exec.CommandContext(ctx, javadoc, "-quiet", "-notimestamp", "-noindex", "-nohelp", "-notree", "-protected", "-Xdoclint:all,-missing", "-Werror",
		"--release", release, "-encoding", "UTF-8", "-docencoding", "UTF-8", "-sourcepath", path, "-d", filepath.Join(dir, "javadoc"), "io.github.redeliver.testing")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "JDK_JAVADOC_OPTIONS=") })
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the test kit for Java cannot be documented: %w: %s", err, out)
	}
	return nil
}

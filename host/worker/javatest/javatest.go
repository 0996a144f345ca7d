//clock:outside runs a compiler

// Package javatest builds function apps in Java for tests, with the libraries that make
// interop has installed.
package javatest

import (
	"archive/zip"
	"bytes"
	_ "embed" // the program that writes function.json
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Interop is where make interop installs packages, relative to the package of the test.
type Interop string

// Required reports whether tests fail where otherwise they are skipped.
func Required() bool { return os.Getenv("REDELIVER_INTEROP") == "required" }

// Missing is what is not there of the JDK and of the libraries, nil when nothing is.
func (i Interop) Missing() error {
	for _, program := range []string{"java", "javac"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("there is no JDK here: %w", err)
		}
	}
	if len(i.libraries(Annotations)) == 0 || len(i.libraries(Interfaces)) == 0 {
		return fmt.Errorf("the libraries for function apps in Java are not in %s", i)
	}
	return nil
}

// TB is a test or a benchmark.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Need skips a test where something is missing; with REDELIVER_INTEROP=required it fails.
func (i Interop) Need(tb TB) {
	tb.Helper()
	switch err := i.Missing(); {
	case err == nil:
	case Required():
		tb.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
	default:
		tb.Skipf("%v; run make interop", err)
	}
}

// The jars that make interop installs, by patterns of their names.
const (
	Annotations = "azure-functions-java-library-*.jar"
	Interfaces  = "azure-functions-java-core-library-*.jar"
	Gson        = "gson-*.jar"
)

func (i Interop) libraries(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(string(i), "javafunctions", pattern))
	return found
}

// Libraries puts jars into the folder lib of an app.
func (i Interop) Libraries(app string, patterns ...string) error {
	lib := filepath.Join(app, "lib")
	if err := os.MkdirAll(lib, 0o700); err != nil {
		return err
	}
	for _, pattern := range patterns {
		for _, jar := range i.libraries(pattern) {
			from, err := filepath.Abs(jar)
			if err == nil {
				err = os.Symlink(from, filepath.Join(lib, filepath.Base(jar)))
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	return nil
}

//go:embed stage/Stage.java
var stage []byte

var (
	mu   sync.Mutex            // guards:
	made = map[string][]byte{} // jars by their sources
)

// Jar compiles sources, by their slash paths, and returns the jar of their classes and of
// other files. The same sources are compiled once in a process.
func (i Interop) Jar(sources fs.FS) ([]byte, error) {
	mu.Lock()
	defer mu.Unlock()
	dir, err := os.MkdirTemp("", "javatest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	classes := filepath.Join(dir, "classes")
	args := []string{"-J-XX:TieredStopAtLevel=1", "-encoding", "UTF-8", "-proc:none", "-nowarn", "-Xlint:none", "-d", classes, "-cp", i.path()}
	var key strings.Builder
	err = fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		key.WriteString(name + "\x00" + string(text) + "\x00")
		path := filepath.Join(classes, filepath.FromSlash(name))
		if strings.HasSuffix(name, ".java") {
			path = filepath.Join(dir, filepath.FromSlash(name))
			args = append(args, path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	})
	if jar := made[key.String()]; jar != nil || err != nil {
		return jar, err
	}
	if err := run(exec.Command("javac", args...)); err != nil {
		return nil, err
	}
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	if err := errors.Join(w.AddFS(os.DirFS(classes)), w.Close()); err != nil {
		return nil, err
	}
	made[key.String()] = jar.Bytes()
	return jar.Bytes(), nil
}

// path is the class path of the annotations and the interfaces.
func (i Interop) path() string {
	return strings.Join(append(i.libraries(Annotations), i.libraries(Interfaces)...), string(os.PathListSeparator))
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// Stage does for the Maven project in a folder what the platform's plugin does: it writes
// into a folder the jar app.jar, the libraries, host.json and local.settings.json, and a
// function.json for each function (spec workers-dotnet-java 2.1). The interfaces are not
// among the libraries.
func (i Interop) Stage(project, to string) error {
	jar, err := i.Jar(os.DirFS(filepath.Join(project, "src", "main", "java")))
	if err != nil {
		return err
	}
	if err := i.Libraries(to, Annotations); err != nil {
		return err
	}
	for _, name := range []string{"host.json", "local.settings.json"} {
		if text, err := os.ReadFile(filepath.Join(project, name)); err == nil {
			if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	if err := os.WriteFile(filepath.Join(to, "app.jar"), jar, 0o600); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "javatest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	classes, program := filepath.Join(dir, "classes"), filepath.Join(dir, "Stage.java")
	if err := os.WriteFile(program, stage, 0o600); err != nil {
		return err
	}
	r, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err == nil {
		err = os.CopyFS(classes, r)
	}
	if err != nil {
		return err
	}
	return run(exec.Command("java", "-cp", i.path()+string(os.PathListSeparator)+classes, program, classes, "app.jar", to))
}

package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/dotnet"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/schemas"
)

// appFolder makes the folder that the host runs. It lies in a copy, or is the test
// author's own: then copied is empty.
func appFolder(tb TB, o *Options) (dir, copied string) {
	tb.Helper()
	dir = o.Dir
	if dir == "" || o.Files != nil || o.Executable != "" {
		copied = filepath.Join(tb.TempDir(), "app") // one name: it is in the journal
		var err error
		if dir, err = copyApp(o, copied); err != nil {
			tb.Fatalf("hosttest: copy %q: %v", o.Dir, err)
		}
	}
	for name, text := range o.Files {
		if err := own(copied, filepath.Join(dir, filepath.FromSlash(name)), true); err != nil {
			tb.Fatalf("hosttest: %v", err)
		}
		if err := write(dir, name, text); err != nil {
			tb.Fatalf("hosttest: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "host.json")); err != nil && o.Dir == "" {
		if err := write(dir, "host.json", `{"version":"2.0"}`); err != nil {
			tb.Fatalf("hosttest: %v", err)
		}
	}
	if o.Executable != "" {
		if err := useExecutable(dir, o.Executable); err != nil {
			tb.Fatalf("hosttest: %v", err)
		}
	}
	return dir, copied
}

// copyApp copies Options.Dir into the folder to, with what a build of its program reads
// around it, and returns where the app is then.
func copyApp(o *Options, to string) (string, error) {
	if o.Dir == "" {
		return to, os.Mkdir(to, 0o755)
	}
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	var around []string
	if o.Handlers == nil && o.Executable == "" {
		around = gobuild.Around(context.Background(), dir, environment(o))
		for _, p := range dotnet.Find(dir) {
			around = append(around, dotnet.Around(p.Path, app.DotnetFolder(dir))...)
		}
	}
	root := dir
	for _, path := range around {
		for !below(path, root) {
			root = filepath.Dir(root)
		}
	}
	at := func(path string) string {
		relative, _ := filepath.Rel(root, path) // it is below root
		return filepath.Join(to, relative)
	}
	for _, path := range around {
		if err := copyFile(at(path), path); err != nil {
			return "", err
		}
	}
	return at(dir), copyTree(at(dir), dir)
}

// below reports whether path is root or below it.
func below(path, root string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(relative)
}

// useExecutable names a handler program in the app's host.json.
func useExecutable(dir, executable string) error {
	name := filepath.Join(dir, "host.json")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	doc, fault := schemas.Parse("host.json", text)
	if fault != nil {
		return fault
	}
	var conf map[string]any
	if err := json.Unmarshal(doc.JSON(), &conf); err != nil {
		return err
	}
	conf["customHandler"] = map[string]any{"description": map[string]any{"defaultExecutablePath": executable}}
	if text, err = json.MarshalIndent(conf, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

func write(dir, name, text string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

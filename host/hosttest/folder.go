package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	if err != nil {
		return "", err
	}
	var around []string
	if o.Handlers == nil && o.Executable == "" {
		around = gobuild.Around(context.Background(), dir, environment(o.Env))
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

// copyTree copies a folder without version control. Of the files that hosts have kept
// there it takes the built programs only.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		kept := filepath.Base(filepath.Dir(path)) == ".redeliver"
		switch {
		case e.IsDir() && (e.Name() == ".git" || kept && e.Name() != "bin"):
			return filepath.SkipDir
		case kept && !e.IsDir():
			return nil
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !e.Type().IsRegular():
			return nil
		}
		return copyFile(target, path)
	})
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, info.Mode().Perm()|0o200))
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

package app

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/internal/linked"
)

// findBuilt takes note of the files of the app that a build by others writes: they come one
// by one, and the app may be read before all are there.
func (l *loader) findBuilt() {
	h := &l.app.Handler
	switch folder, ends := l.builtInto(); {
	case h.Kind == Executable || h.Kind == Custom:
		l.app.built = slices.DeleteFunc(append(slices.Clone(h.Files), h.Path), func(path string) bool { return !isFile(path) })
	case folder != "":
		_ = linked.Walk(folder, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil: // it has just gone, or cannot be read
			case e.IsDir() && path != folder && Unwatched(e.Name()):
				return filepath.SkipDir
			case !e.IsDir() && slices.Contains(ends, strings.ToLower(filepath.Ext(path))):
				l.app.built = append(l.app.built, path)
			}
			return nil
		})
	}
}

// builtInto is the folder that a build writes the app into, and the ends of the names of
// what it is made of there; "" when the app is run as its author wrote it, or this host
// builds it.
func (l *loader) builtInto() (folder string, ends []string) {
	switch h := &l.app.Handler; {
	case h.Kind != Language || l.handler.language == nil:
	case h.Root != "":
		return h.Root, []string{".jar", ".json"}
	case h.Runtime == isolated && l.handler.language.project == "":
		return l.app.Dir, []string{".dll", ".metadata", ".json"}
	case h.Runtime == "node" && isFile(l.app.Dir, "tsconfig.json"):
		return compiledInto(l.app.Dir), []string{".js", ".mjs", ".cjs"}
	}
	return "", nil
}

// compiledInto is the folder of the app in a folder that "main" of package.json leads into,
// "" for none: with older models it is beside each function.json.
func compiledInto(dir string) string {
	var pkg struct{ Main string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(text, &pkg) != nil {
		return ""
	}
	first, _, below := strings.Cut(strings.TrimPrefix(pkg.Main, "./"), "/")
	if !below || strings.ContainsAny(first, "*?[{") {
		return ""
	}
	return filepath.Join(dir, first)
}

// Lacks returns a file that a build had written for the app before, and that is missing, empty or
// cut off now; "" when there is none. A build that is at work leaves an app that is half there.
func (a *App) Lacks(before *App) string {
	for _, path := range before.built {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || strings.EqualFold(filepath.Ext(path), ".jar") && !isArchive(path) {
			relative, _ := filepath.Rel(a.Dir, path)
			return filepath.ToSlash(relative)
		}
	}
	return ""
}

// isArchive reports whether a file is an archive to its end, where its list of entries is.
func isArchive(path string) bool {
	r, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	return r.Close() == nil
}

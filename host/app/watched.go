package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/internal/linked"
)

// StateDir is the folder below the app in which the host keeps what it makes: built
// handlers, keys, the run file. It is never watched.
const StateDir = ".redeliver"

// Unwatched reports whether folders of that name are never looked into, at any
// depth: the state of the host, version control, and what package managers fill.
func Unwatched(name string) bool {
	switch name {
	case StateDir, ".git", "node_modules", ".venv", "venv", "__pycache__", ".python_packages":
		return true
	}
	return false
}

// hashWatched adds to the fingerprint what the host itself never reads, but whose
// change restarts it: the set of direct sub-folders, what is below
// watchDirectories, and the files that watchFiles names (spec host-and-retry 7.1).
func (l *loader) hashWatched() {
	entries, _ := os.ReadDir(l.app.Dir) // it could be read a moment ago
	for _, e := range entries {
		if e = linked.Entry(l.app.Dir, e); e == nil {
			continue
		}
		if e.IsDir() && !l.app.Handler.Unwatched(e.Name()) {
			l.hash("folder "+e.Name(), nil)
		}
		if slices.Contains(l.app.Config.WatchDirectories, e.Name()) && !Unwatched(e.Name()) {
			l.hashFiles(e.Name(), func(string) bool { return true })
		}
	}
	// Names that are always watched are read as literal names, or not at all.
	names := slices.DeleteFunc(slices.Clone(l.app.Config.WatchFiles), func(name string) bool {
		return slices.Contains([]string{document.HostFile, document.FunctionFile, document.ProxiesFile}, name)
	})
	if len(names) > 0 {
		l.hashFiles(".", func(name string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		})
	}
}

// hashFiles adds the files below a folder of the app whose names are wanted.
func (l *reading) hashFiles(folder string, wanted func(name string) bool) {
	// Errors leave a file out: it may just have gone.
	_ = linked.Walk(filepath.Join(l.app.Dir, folder), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case e.IsDir():
			if Unwatched(e.Name()) {
				return filepath.SkipDir
			}
		case wanted(e.Name()):
			relative, _ := filepath.Rel(l.app.Dir, path)
			l.hash("watched "+filepath.ToSlash(relative), []byte(contentOf(path, e)))
		}
		return nil
	})
}

// mostHashed is the size from which a file is known by its time instead of its
// content.
const mostHashed = 1 << 20

// contentOf stands for the content of a file.
func contentOf(path string, e fs.DirEntry) string {
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if info.Size() > mostHashed {
		return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	return fileDigest(path)
}

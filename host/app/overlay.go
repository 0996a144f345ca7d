package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
)

// readFile is os.ReadFile, after a look at Options.Overlay.
func (l *reading) readFile(path string) ([]byte, error) {
	if relative, err := filepath.Rel(l.app.Dir, path); err == nil {
		if text, ok := l.opts.Overlay[filepath.ToSlash(relative)]; ok {
			return []byte(text), nil
		}
	}
	return os.ReadFile(path)
}

// functionFolders are the names of the folders below one that hold a function.json, in
// their order.
func (l *reading) functionFolders(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(l.app.Dir, folder))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		file := filepath.Join(l.app.Dir, folder, entry.Name(), document.FunctionFile)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			names = append(names, entry.Name())
		}
	}
	for file := range l.opts.Overlay {
		parent, name := filepath.Split(filepath.FromSlash(file))
		within, folderName := filepath.Split(strings.TrimSuffix(parent, string(filepath.Separator)))
		if name == document.FunctionFile && folderName != "" && filepath.Clean(within) == filepath.Clean(folder) {
			names = append(names, folderName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

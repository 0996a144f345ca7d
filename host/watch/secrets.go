package watch

import (
	"os"
	"path/filepath"
	"strings"
)

// secrets is the file of the app's user secrets; empty when it has none.
func (w *watching) secrets() string {
	if a := w.App(); a != nil {
		return a.Settings.SecretsFile()
	}
	return ""
}

// ofSecrets reports whether a path is the file of the user secrets, or a folder above it,
// which may be made with the first secret.
func (w *watching) ofSecrets(path string, isDir bool) bool {
	file := w.secrets()
	return file != "" && (path == file || isDir && strings.HasPrefix(file, path+string(filepath.Separator)))
}

// nearest is the folder of a file, or the first one above that is there.
func nearest(file string) string {
	dir := filepath.Dir(file)
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

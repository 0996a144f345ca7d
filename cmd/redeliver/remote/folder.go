package remote

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// AppAbove is the app's folder: the argument, or the current folder or the first one above it
// that holds host.json.
func AppAbove(args []string) (string, error) {
	dir, err := AppDir(args)
	if err != nil || len(args) > 0 {
		return dir, err
	}
	for above := dir; ; above = filepath.Dir(above) {
		if info, err := os.Stat(filepath.Join(above, "host.json")); err == nil && !info.IsDir() {
			return above, nil
		}
		if above == filepath.Dir(above) {
			return dir, nil
		}
	}
}

// AppDir is the app's folder: the argument, or the current folder.
func AppDir(args []string) (string, error) {
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(abs); {
	case err != nil:
		return "", cli.Hinted(fmt.Errorf("no folder %q", dir), "name the folder that holds host.json")
	case !info.IsDir():
		return "", cli.Hinted(fmt.Errorf("%q is not a folder", dir), "name the folder that holds host.json")
	}
	return abs, nil
}

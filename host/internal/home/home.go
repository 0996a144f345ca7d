// Package home is the folder of the program on this machine, for its user alone: what is
// kept there outlives an app, and belongs to none. Nothing below an app's folder would do
// for what an interpreter runs, since interpreters look for settings in the folders above a
// file ("type" of a package.json, for instance) and would find the app's.
//
// Read [Folder] first. What is written there is not this package's business.
package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Folder returns a folder of this program, and makes it if need be: below the user's cache
// folder, or, where there is none that can be written, below the system's folder for
// temporary files. Other users can write neither into it nor into the program's folder
// above it.
func Folder(parts ...string) (string, error) {
	var failed []error
	for _, root := range roots() {
		err := own(root)
		folder := filepath.Join(append([]string{root}, parts...)...)
		if err == nil {
			if err = os.MkdirAll(folder, 0o700); err == nil {
				err = writable(folder)
			}
		}
		if err == nil {
			return folder, nil
		}
		failed = append(failed, err)
	}
	return "", errors.Join(failed...)
}

// roots are where the program's folder may be, the best first.
func roots() []string {
	var out []string
	if cache, err := os.UserCacheDir(); err == nil { // none without a home
		out = append(out, filepath.Join(cache, "redeliver"))
	}
	return append(out, filepath.Join(os.TempDir(), "redeliver-"+strconv.Itoa(os.Getuid())))
}

// own makes a folder, or takes one that belongs to this user and that no other user can
// write: whoever may write a worker there runs code as this user.
func own(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is no folder", folder)
	case !mine(info):
		return fmt.Errorf("the folder %q belongs to another user", folder)
	case shared(info):
		return os.Chmod(folder, 0o700)
	}
	return nil
}

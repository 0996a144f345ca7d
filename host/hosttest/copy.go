package hosttest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dependencies are folders whose packages find each other by their real paths: a copy of one
// package would not find the others.
var dependencies = []string{"node_modules", ".venv", "venv", ".python_packages"} // read only

// copyTree copies a folder without version control. Of the files that hosts have kept there
// it takes the built programs only. A link within the folder stays one, and leads into the
// copy; what any other link leads to is copied, so that a change of the copy reaches no file
// outside. In folders of dependencies such links stay, until [own] cuts them.
func copyTree(to, from string) error {
	root, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	c := &copier{root: root, to: to}
	return c.folder(to, root, []string{root})
}

type copier struct{ root, to string }

// folder copies a folder. above are the real paths of those that links have led through.
func (c *copier) folder(to, from string, above []string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	kept := filepath.Base(from) == ".redeliver"
	for _, e := range entries {
		path, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.Name() == ".git" && e.IsDir(), kept && !(e.IsDir() && e.Name() == "bin"):
			continue
		case e.Type()&fs.ModeSymlink != 0:
			err = c.link(target, path, above)
		case e.IsDir():
			err = c.folder(target, path, above)
		case e.Type().IsRegular():
			err = copyFile(target, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link copies what a link leads to, or the link.
func (c *copier) link(to, from string, above []string) error {
	real, err := filepath.EvalSymlinks(from)
	if err != nil { // it leads to nothing
		text, err := os.Readlink(from)
		return errors.Join(err, os.Symlink(text, to))
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return err
	case below(real, c.root):
		within, _ := filepath.Rel(c.root, real) // it is below
		text, err := filepath.Rel(filepath.Dir(to), filepath.Join(c.to, within))
		if err != nil {
			return err
		}
		return os.Symlink(text, to)
	case below(c.root, real), ofDependencies(from):
		return os.Symlink(real, to)
	case !info.IsDir():
		return copyFile(to, real)
	case slices.Contains(above, real): // it is being copied
		return nil
	}
	return c.folder(to, real, append(slices.Clip(above), real))
}

func ofDependencies(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return slices.Contains(dependencies, name) })
}

// own makes a path below the copy the copy's own, before it is changed: a link on the way
// that leads out of the copy gives way to what it leads to. Itself says that this is also
// for the file or folder at the path.
func own(copied, path string, itself bool) error {
	root, err := filepath.EvalSymlinks(copied)
	if copied == "" || err != nil {
		return nil //nolint:nilerr // there is no copy yet
	}
	relative, err := filepath.Rel(copied, path)
	if err != nil {
		return err
	}
	parts := strings.Split(relative, string(filepath.Separator))
	if !itself {
		parts = parts[:len(parts)-1]
	}
	at := copied
	for _, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil {
			return nil //nolint:nilerr // the rest is to be made
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(at)
		if err == nil && below(real, root) {
			continue
		}
		if removed := os.Remove(at); removed != nil || err != nil { // it led to nothing
			return removed
		}
		if info, err = os.Stat(real); err == nil && info.IsDir() {
			err = copyTree(at, real)
		} else if err == nil {
			err = copyFile(at, real)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// Package linked walks folders through symbolic links, for apps whose folder is one, or
// holds some: as the platform's own file system calls do. It reads the disk each time, and
// keeps nothing.
package linked

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostEntries is how often one folder is walked through, by different links to it: links
// across each other have many ways, and no one needs all.
const mostEntries = 8

// Walk is filepath.WalkDir with links followed: an entry says what its link leads to, and
// a link that leads nowhere is no entry. A path never leads through one folder twice, so
// cycles end.
func Walk(root string, visit fs.WalkDirFunc) error {
	info, err := os.Stat(root)
	if err != nil {
		err = visit(root, nil, err)
	} else {
		w := walker{visit: visit, entered: map[string]int{}}
		err = w.walk(root, fs.FileInfoToDirEntry(info), nil)
	}
	if err == fs.SkipDir || err == fs.SkipAll { //nolint:errorlint // as the package filepath has it
		return nil
	}
	return err
}

type walker struct {
	visit   fs.WalkDirFunc
	entered map[string]int // by the real path
}

// walk goes through one entry; above are the real paths of the folders that lead there.
func (w *walker) walk(path string, entry fs.DirEntry, above []string) error {
	if !entry.IsDir() {
		return w.visit(path, entry, nil)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || slices.Contains(above, real) || w.entered[real] == mostEntries {
		return nil //nolint:nilerr // it has just gone
	}
	w.entered[real]++
	if err := w.visit(path, entry, nil); err != nil {
		if err == fs.SkipDir { //nolint:errorlint // as the package filepath has it
			return nil
		}
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		if err = w.visit(path, entry, err); err == fs.SkipDir { //nolint:errorlint // as the package filepath has it
			return nil
		}
		return err
	}
	above = append(slices.Clip(above), real)
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		if e = Entry(path, e); e == nil {
			continue
		}
		if err := w.walk(below, e, above); err == fs.SkipDir { //nolint:errorlint // as the package filepath has it
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Entry is what an entry of a folder leads to; nil if it is a link that leads nowhere.
func Entry(folder string, e fs.DirEntry) fs.DirEntry {
	if e.Type()&fs.ModeSymlink == 0 {
		return e
	}
	info, err := os.Stat(filepath.Join(folder, e.Name()))
	if err != nil {
		return nil
	}
	return fs.FileInfoToDirEntry(info)
}

// mostLinks ends a path that leads from link to link, as the system does.
const mostLinks = 40

// Way returns the links by which an absolute path leads to where it ends, and that end.
// Each link may be replaced by another. The end of one that leads nowhere is where
// something would have to come.
func Way(path string) (links []string, end string) {
	end = filepath.Clean(path)
	for at := len(filepath.VolumeName(end)) + 1; at < len(end); {
		next := strings.IndexByte(end[at:], filepath.Separator)
		if next < 0 {
			next = len(end) - at
		}
		next += at
		target, err := os.Readlink(end[:next])
		if err != nil || len(links) == mostLinks {
			at = next + 1
			continue
		}
		links = append(links, end[:next])
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(end[:next]), target)
		}
		end = filepath.Join(target, end[next:])
		at = len(filepath.VolumeName(end)) + 1
	}
	return links, end
}

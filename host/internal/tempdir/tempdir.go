// Package tempdir makes temporary folders that do not stay when their process is killed: the next
// process that makes one of the same prefix removes them.
//
// Each folder has a file that its maker holds locked. The system lets go of the lock with the
// process, however that ends, so a folder whose lock is free is nobody's. What is needed is [Make],
// and [Sweep] for who wants to remove without making.
package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// mark is the file that a folder's maker holds locked. It has its name only when it is held.
const mark = "redeliver.lock"

// old is the age from which a folder without a mark is nobody's: its maker was killed before it
// made one.
const old = 24 * time.Hour

// A Dir is a folder of this process.
type Dir struct {
	Path string // of a folder in it, which the user may fill
	base string
	lock *os.File
}

var swept sync.Map // prefixes that this process has swept

// Make makes a folder whose name begins with a prefix, after removing those that killed processes
// have left, once for a process and prefix.
func Make(prefix string) (*Dir, error) {
	if _, done := swept.LoadOrStore(prefix, true); !done {
		Sweep(prefix)
	}
	base, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: filepath.Join(base, "files"), base: base}
	if err = os.Mkdir(d.Path, 0o700); err == nil {
		d.lock, err = hold(filepath.Join(base, mark))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	return d, nil
}

// hold makes a mark, locked.
func hold(name string) (*os.File, error) {
	f, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if !lock(f) {
		err = errors.New("the lock of a new file is held by another process")
	} else {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Remove removes the folder with all that is in it. A second call does nothing.
func (d *Dir) Remove() error {
	if d == nil || d.lock == nil {
		return nil
	}
	err := os.RemoveAll(d.Path)
	_ = d.lock.Close() // Windows removes no file that is open
	d.lock = nil
	return errors.Join(err, os.RemoveAll(d.base))
}

// Sweep removes the folders of a prefix whose processes have ended without doing so. What cannot
// be removed stays for the next one.
func Sweep(prefix string) {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // the pattern is good
	for _, dir := range dirs {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether no process holds a folder.
func abandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, mark), os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Since(info.ModTime()) > old //clock:outside files have real times
	}
	if err != nil {
		return false
	}
	defer f.Close() // the lock with it
	return lock(f)
}

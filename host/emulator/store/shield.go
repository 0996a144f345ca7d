package store

import (
	"errors"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// shield is a disk as the engine sees it: one on which nothing that changes
// ever fails. An engine that is told of an error of its log ends the process,
// and one that cannot write a table tries again at once and for ever, and can
// be closed no more. So the first error ends this opening instead, what is
// changed after it goes nowhere, and the engine comes to its end in order.
// A waiter must look at the failure (without: TestOutageCostsNothing). But
// it is told that there is no room to merge tables: that it can wait for
// (TestARefusedMergeRefusesNoWrite).
type shield struct {
	*disk
	dir     string // on it
	failed  func(error)
	replays func(name string)
}

var _ vfs.FS = (*shield)(nil)

// keepFrom reports whether there is an error to be kept from the engine.
func (s *shield) keepFrom(err error) bool {
	if err != nil && !errors.Is(err, errFenced) {
		s.failed(err)
	}
	return err != nil
}

func (s *shield) made(f vfs.File, err error) (vfs.File, error) {
	if s.keepFrom(err) {
		f = vfs.NewMemFile(nil)
	}
	return &shieldFile{File: f, s: s, nowhere: err != nil}, nil
}

func (s *shield) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	s.replays(name)
	return s.disk.Open(name, opts...)
}

func (s *shield) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.disk.Create(name, category)
	if category != mergeCategory {
		return s.made(f, err)
	}
	if vfs.IsNoSpaceError(err) {
		return nil, err
	}
	if f, err = s.made(f, err); err == nil {
		f.(*shieldFile).merge = true
	}
	return f, err
}

func (s *shield) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return s.made(s.disk.OpenReadWrite(name, category, opts...))
}

func (s *shield) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.made(s.disk.ReuseForWrite(oldname, newname, category))
}

func (s *shield) OpenDir(name string) (vfs.File, error) {
	f, err := s.disk.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &shieldFile{File: f, s: s}, nil
}

func (s *shield) Rename(oldname, newname string) error {
	s.keepFrom(s.disk.Rename(oldname, newname))
	return nil
}

func (s *shield) Link(oldname, newname string) error {
	s.keepFrom(s.disk.Link(oldname, newname))
	return nil
}

// Other failures to make or remove a file do no harm: the engine only passes the
// error on. A fenced disk has nothing to tell it.

func (s *shield) MkdirAll(dir string, perm os.FileMode) error {
	return unlessFenced(s.disk.MkdirAll(dir, perm))
}

func (s *shield) Remove(name string) error    { return unlessFenced(s.disk.Remove(name)) }
func (s *shield) RemoveAll(name string) error { return unlessFenced(s.disk.RemoveAll(name)) }

func unlessFenced(err error) error {
	if errors.Is(err, errFenced) {
		return nil
	}
	return err
}

// shieldFile is an open file of a shield.
type shieldFile struct {
	vfs.File
	s       *shield
	nowhere bool // there is no such file
	merge   bool // it is one that others are merged into
}

// tell reports whether the engine is told of an error, and otherwise keeps it.
func (f *shieldFile) tell(err error) bool {
	if f.merge && vfs.IsNoSpaceError(err) {
		return true
	}
	f.s.keepFrom(err)
	return false
}

func (f *shieldFile) Write(p []byte) (int, error) {
	if f.nowhere {
		return len(p), nil
	}
	if f.merge && !f.s.hasFree(f.s.dir, roomToMerge) {
		return 0, syscall.ENOSPC
	}
	if n, err := f.File.Write(p); f.tell(err) {
		return n, err
	}
	return len(p), nil
}

func (f *shieldFile) WriteAt(p []byte, off int64) (int, error) {
	if !f.nowhere {
		_, err := f.File.WriteAt(p, off)
		f.s.keepFrom(err)
	}
	return len(p), nil
}

func (f *shieldFile) Sync() error { return f.kept(f.File.Sync()) }

func (f *shieldFile) SyncData() error { return f.kept(f.File.SyncData()) }

func (f *shieldFile) kept(err error) error {
	if f.tell(err) {
		return err
	}
	return nil
}

func (f *shieldFile) SyncTo(length int64) (full bool, err error) {
	full, err = f.File.SyncTo(length)
	return full, f.kept(err)
}

func (f *shieldFile) Close() error {
	return f.kept(f.File.Close())
}

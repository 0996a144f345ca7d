package store

import (
	"os"
	"path/filepath"
	"sync/atomic"
)

// FileOp is something done to a file of the store.
type FileOp string

// The operations that [Options.Fault] is asked about.
const (
	OpCreate FileOp = "create" // of a file
	OpRead   FileOp = "read"
	OpWrite  FileOp = "write"
	OpSync   FileOp = "sync"
	OpRename FileOp = "rename"
	OpRemove FileOp = "remove"
)

// disk is the file layer of a store. It asks for faults, and it decides what is synced.
//
// Without Options.Sync a commit is only handed to the operating system, which is what
// survives a kill. A segment of the log that is full is synced nevertheless, and so is what
// says how far the log has come: after a loss of power the keys lack their last moments and
// are otherwise whole. Bodies (files.go) are left to the operating system: one that a key
// names and that is missing then is damage.
type disk struct {
	fileSystem
	sync  bool
	fault func(op FileOp, path string) error
	fresh atomic.Bool // nothing is stored yet; no sync is worth its time
}

var _ fileSystem = (*disk)(nil)

func newDisk(under fileSystem, opts *Options) *disk {
	return &disk{fileSystem: under, sync: opts.Sync, fault: opts.Fault}
}

func (d *disk) ask(op FileOp, name string) error {
	if d.fault == nil {
		return nil
	}
	if err := d.fault(op, filepath.ToSlash(name)); err != nil {
		return &os.PathError{Op: string(op), Path: name, Err: err}
	}
	return nil
}

// hasFree reports whether so much is free where a directory is, as far as it can be
// known.
func (d *disk) hasFree(dir string, bytes int64) bool {
	free, err := d.Free(dir)
	return err != nil || free >= uint64(bytes)
}

func (d *disk) Create(name string) (file, error) { return d.open(OpCreate, name, d.fileSystem.Create) }
func (d *disk) Open(name string) (file, error)   { return d.open(OpRead, name, d.fileSystem.Open) }
func (d *disk) Reopen(name string) (file, error) { return d.open(OpRead, name, d.fileSystem.Reopen) }

func (d *disk) open(op FileOp, name string, open func(name string) (file, error)) (file, error) {
	if err := d.ask(op, name); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return &diskFile{file: f, d: d, name: name}, nil
}

func (d *disk) MakeDir(name string) error   { return d.change(OpCreate, name, d.fileSystem.MakeDir) }
func (d *disk) Remove(name string) error    { return d.change(OpRemove, name, d.fileSystem.Remove) }
func (d *disk) RemoveAll(name string) error { return d.change(OpRemove, name, d.fileSystem.RemoveAll) }

func (d *disk) SyncDir(dir string) error {
	if d.fresh.Load() {
		return d.ask(OpSync, dir)
	}
	return d.change(OpSync, dir, d.fileSystem.SyncDir)
}

func (d *disk) change(op FileOp, name string, f func(name string) error) error {
	if err := d.ask(op, name); err != nil {
		return err
	}
	return f(name)
}

func (d *disk) Rename(from, to string) error {
	return d.change(OpRename, to, func(string) error { return d.fileSystem.Rename(from, to) })
}

// diskFile is an open file of a disk.
type diskFile struct {
	file
	d    *disk
	name string
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.ask(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, off)
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.ask(OpWrite, f.name); err != nil {
		return 0, err
	}
	return f.file.WriteAt(p, off)
}

func (f *diskFile) Truncate(size int64) error {
	if err := f.d.ask(OpWrite, f.name); err != nil {
		return err
	}
	return f.file.Truncate(size)
}

func (f *diskFile) Allocate(size int64) error {
	if err := f.d.ask(OpWrite, f.name); err != nil {
		return err
	}
	return f.file.Allocate(size)
}

// Sync asks for a fault also when there is nothing to lose yet.
func (f *diskFile) Sync() error {
	if err := f.d.ask(OpSync, f.name); err != nil || f.d.fresh.Load() {
		return err
	}
	return f.file.Sync()
}

package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
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

// errFenced is what an opening gets that has been given up.
var errFenced = errors.New("this opening of the store has ended")

// walCategory is how the engine marks the files of its log.
const walCategory vfs.DiskWriteCategory = "pebble-wal"

// disk is the file layer of one opening of the store. It asks for faults, it
// decides what is synced, and once fenced it changes nothing any more: whatever
// still runs in a failed engine cannot reach the files of its successor.
//
// Without Options.Sync the engine believes that its log is synced while it is
// only handed to the operating system, which is what survives a kill. All other
// files, and a log that is complete, are synced nevertheless: after a loss of
// power the store lacks its last moments and is otherwise whole.
type disk struct {
	vfs.FS
	sync  bool
	fault func(op FileOp, path string) error
	fresh atomic.Bool // nothing is stored yet; no sync is worth its time

	gate   sync.RWMutex // held for reading by every change
	fenced bool
}

var _ vfs.FS = (*disk)(nil)

func newDisk(under vfs.FS, opts *Options) *disk {
	return &disk{FS: under, sync: opts.Sync, fault: opts.Fault}
}

// enter begins an operation that changes something, unless a fault is due or the
// disk is fenced; leave ends it. Fencing waits for those that are under way.
func (d *disk) enter(op FileOp, path string) error {
	if err := d.ask(op, path); err != nil {
		return err
	}
	d.gate.RLock()
	if d.fenced {
		d.gate.RUnlock()
		return errFenced
	}
	return nil
}

func (d *disk) leave() { d.gate.RUnlock() }

// fence returns when nothing changes any more through this disk.
func (d *disk) fence() {
	d.gate.Lock()
	defer d.gate.Unlock()
	d.fenced = true
}

func (d *disk) ask(op FileOp, path string) error {
	if d.fault == nil {
		return nil
	}
	if err := d.fault(op, filepath.ToSlash(path)); err != nil {
		return &os.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

func (d *disk) file(f vfs.File, name string, category vfs.DiskWriteCategory, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, d: d, name: name, log: category == walCategory}, nil
}

func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.enter(OpCreate, name); err != nil {
		return nil, err
	}
	defer d.leave()
	f, err := d.FS.Create(name, category)
	return d.file(f, name, category, err)
}

func (d *disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := d.ask(OpRead, name); err != nil {
		return nil, err
	}
	f, err := d.FS.Open(name, opts...)
	return d.file(f, name, "", err)
}

func (d *disk) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := d.enter(OpCreate, name); err != nil {
		return nil, err
	}
	defer d.leave()
	f, err := d.FS.OpenReadWrite(name, category, opts...)
	return d.file(f, name, category, err)
}

func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	return d.file(f, name, "", err)
}

func (d *disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.enter(OpCreate, newname); err != nil {
		return nil, err
	}
	defer d.leave()
	f, err := d.FS.ReuseForWrite(oldname, newname, category)
	return d.file(f, newname, category, err)
}

func (d *disk) Link(oldname, newname string) error {
	return d.change(OpCreate, newname, func() error { return d.FS.Link(oldname, newname) })
}

func (d *disk) MkdirAll(dir string, perm os.FileMode) error {
	return d.change(OpCreate, dir, func() error { return d.FS.MkdirAll(dir, perm) })
}

func (d *disk) Remove(name string) error {
	return d.change(OpRemove, name, func() error { return d.FS.Remove(name) })
}

func (d *disk) RemoveAll(name string) error {
	return d.change(OpRemove, name, func() error { return d.FS.RemoveAll(name) })
}

func (d *disk) Rename(oldname, newname string) error {
	return d.change(OpRename, newname, func() error { return d.FS.Rename(oldname, newname) })
}

func (d *disk) change(op FileOp, name string, f func() error) error {
	if err := d.enter(op, name); err != nil {
		return err
	}
	defer d.leave()
	return f()
}

// Lock gives the engine nothing to hold: the whole directory has its owner
// already, and a failed engine that cannot be closed must not keep its
// successor out.
func (d *disk) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap returns the file system below.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// diskFile is one open file of a disk.
type diskFile struct {
	vfs.File
	d    *disk
	name string
	log  bool
}

func (f *diskFile) Read(p []byte) (int, error) {
	if err := f.d.ask(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.ask(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *diskFile) Write(p []byte) (int, error) {
	if err := f.d.enter(OpWrite, f.name); err != nil {
		return 0, err
	}
	defer f.d.leave()
	return f.File.Write(p)
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.enter(OpWrite, f.name); err != nil {
		return 0, err
	}
	defer f.d.leave()
	return f.File.WriteAt(p, off)
}

func (f *diskFile) Sync() error { return f.syncBy(f.File.Sync) }

func (f *diskFile) SyncData() error { return f.syncBy(f.File.SyncData) }

func (f *diskFile) SyncTo(length int64) (full bool, err error) {
	err = f.syncBy(func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, err
}

// syncBy asks for a fault even when the sync is left out, so that faults do not
// depend on the mode.
func (f *diskFile) syncBy(sync func() error) error {
	return f.d.change(OpSync, f.name, func() error {
		if f.d.fresh.Load() || f.log && !f.d.sync {
			return nil
		}
		return sync()
	})
}

// Close syncs a log that was not synced on the way: the engine goes on in the
// next one, and the order of the two must hold.
func (f *diskFile) Close() error {
	var err error
	if f.log && !f.d.sync && !f.d.fresh.Load() {
		err = f.d.change(OpSync, f.name, f.File.SyncData)
	}
	return errors.Join(err, f.File.Close())
}

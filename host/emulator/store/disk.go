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

// errFenced is the error of an opening that has been given up.
var errFenced = errors.New("this opening of the store has ended")

// walCategory is how the engine marks the files of its log.
const walCategory vfs.DiskWriteCategory = "pebble-wal"

// disk is the file layer of one opening of the store. It asks for faults, it
// decides what is synced, and once fenced it changes nothing any more: the
// rest of a failed engine cannot reach the files of its successor
// (TestEachFileOperationFails). The engine itself sees it through a shield.
//
// Without Options.Sync the engine believes that its log is synced while it is
// only handed to the operating system, which is what survives a kill. All other
// files, and a log that is complete, are synced nevertheless: after a loss of
// power the store lacks its last moments and is otherwise whole.
type disk struct {
	vfs.FS
	sync  bool
	users bool // files have them, and are to be private
	fault func(op FileOp, path string) error
	fresh atomic.Bool // nothing is stored yet; no sync is worth its time

	gate   sync.RWMutex // held for reading by every change
	fenced bool

	mu    sync.Mutex
	files map[*diskFile]struct{} // that are open
}

var _ vfs.FS = (*disk)(nil)

func newDisk(under vfs.FS, opts *Options) *disk {
	return &disk{FS: under, users: hasUsers(under), sync: opts.Sync, fault: opts.Fault}
}

// enter begins an operation that changes something, unless a fault is due or the
// disk is fenced; leave ends it. Fencing waits for the operations that are under
// way.
func (d *disk) enter(op FileOp, path string) error {
	d.gate.RLock()
	err := errFenced
	if !d.fenced {
		err = d.ask(op, path)
	}
	if err != nil {
		d.gate.RUnlock()
	}
	return err
}

func (d *disk) leave() { d.gate.RUnlock() }

// fence returns when nothing changes any more through this disk.
func (d *disk) fence() {
	d.gate.Lock()
	defer d.gate.Unlock()
	d.fenced = true
}

// abandon closes every file, in place of an engine that can no longer do it
// (TestEachFileOperationFails).
func (d *disk) abandon() {
	d.fence()
	d.mu.Lock()
	defer d.mu.Unlock()
	for f := range d.files {
		_ = f.File.Close() // it is not read, and its changes do not count
	}
	clear(d.files)
}

// hasFree reports whether so much is free where a directory is, as far as it can be
// known.
func (d *disk) hasFree(dir string, bytes uint64) bool {
	usage, err := d.GetDiskUsage(dir)
	return err != nil || usage.AvailBytes >= bytes
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
	return d.keep(&diskFile{File: f, d: d, name: name, log: category == walCategory}), nil
}

func (d *disk) keep(f *diskFile) vfs.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = map[*diskFile]struct{}{}
	}
	d.files[f] = struct{}{}
	return f
}

func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return d.create(name, category, func() (vfs.File, error) { return d.FS.Create(name, category) })
}

func (d *disk) create(name string, category vfs.DiskWriteCategory, make func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := d.change(OpCreate, name, func() (err error) { f, err = make(); return err })
	if err == nil && d.users {
		_ = os.Chmod(name, privateFile) // the directory above is private in any case
	}
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
	return d.create(name, category, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, category, opts...) })
}

func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return d.keep(&diskFile{File: f, d: d, name: name}), nil
}

// ReuseForWrite makes a log of an old one, which saves time when each commit is
// synced. Otherwise a log takes no more room than its content
// (TestAddsGoOnWithALittleRoom).
func (d *disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if !d.sync {
		if err := d.Remove(oldname); err != nil {
			return nil, err
		}
		return d.Create(newname, category)
	}
	return d.create(newname, category, func() (vfs.File, error) { return d.FS.ReuseForWrite(oldname, newname, category) })
}

func (d *disk) Link(oldname, newname string) error {
	return d.change(OpCreate, newname, func() error { return d.FS.Link(oldname, newname) })
}

func (d *disk) MkdirAll(dir string, perm os.FileMode) error {
	return d.change(OpCreate, dir, func() error { return d.FS.MkdirAll(dir, perm&privateDir) })
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
// already, and a failed engine that is still read, or cannot be closed, must not keep
// its successor out (TestOutageCostsNothing).
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

func (f *diskFile) Write(p []byte) (n int, err error) {
	err = f.d.change(OpWrite, f.name, func() (err error) { n, err = f.File.Write(p); return err })
	return n, err
}

func (f *diskFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.d.change(OpWrite, f.name, func() (err error) { n, err = f.File.WriteAt(p, off); return err })
	return n, err
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

// Preallocate takes nothing ahead: on a nearly full disk the reserve needs the
// room of a log that may never be filled.
func (f *diskFile) Preallocate(int64, int64) error { return nil }

// Close syncs a log that was not synced on the way: the engine goes on in the
// next one, and the order of the two must hold.
func (f *diskFile) Close() error {
	var err error
	if f.log && !f.d.sync && !f.d.fresh.Load() {
		err = f.d.change(OpSync, f.name, f.File.SyncData)
	}
	f.d.mu.Lock()
	_, open := f.d.files[f]
	delete(f.d.files, f)
	f.d.mu.Unlock()
	if open {
		err = errors.Join(err, f.File.Close())
	}
	return err
}

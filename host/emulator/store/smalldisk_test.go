package store_test

import (
	"crypto/rand"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

const mib = 1 << 20

// smallDisk is a file system in memory that has so much room and no more. It
// refuses the rest of a write that does not fit with ENOSPC. It counts the bytes
// of files that have a name.
type smallDisk struct {
	store.FileSystem

	mu    sync.Mutex
	size  int64
	used  int64
	files map[string]*smallInode
}

type smallInode struct{ size int64 }

func newSmallDisk(size int64) *smallDisk {
	return &smallDisk{FileSystem: store.MemoryFS(), size: size, files: map[string]*smallInode{}}
}

// fill takes all the room but so many bytes.
func (d *smallDisk) fill(free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size = d.used + free
}

// grow makes the disk larger by so many bytes.
func (d *smallDisk) grow(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size += bytes
}

// usedBy is how much there is in files with a suffix.
func (d *smallDisk) usedBy(suffix string) (total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, in := range d.files {
		if strings.HasSuffix(name, suffix) {
			total += in.size
		}
	}
	return total
}

func (d *smallDisk) Free(string) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return uint64(max(d.size-d.used, 0)), nil
}

// take makes a file as long as end, if there is room, and returns up to where there is.
func (d *smallDisk) take(in *smallInode, end int64) (fits int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	more := max(end-in.size, 0)
	if more == 0 {
		return end
	}
	more = min(more, max(d.size-d.used, 0))
	in.size += more
	d.used += more
	return in.size
}

// named gives an inode a name; what had it before goes.
func (d *smallDisk) named(name string, in *smallInode) {
	d.forget(name)
	d.files[name] = in
	d.used += in.size
}

func (d *smallDisk) forget(name string) {
	if in := d.files[name]; in != nil {
		d.used -= in.size
		delete(d.files, name)
	}
}

func (d *smallDisk) Create(name string) (store.OpenedFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.FileSystem.Create(name)
	if err != nil {
		return nil, err
	}
	d.forget(name)
	in := &smallInode{}
	d.named(name, in)
	return &smallFile{OpenedFile: f, d: d, in: in}, nil
}

func (d *smallDisk) Reopen(name string) (store.OpenedFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.FileSystem.Reopen(name)
	if err != nil {
		return nil, err
	}
	return &smallFile{OpenedFile: f, d: d, in: d.files[name]}, nil
}

func (d *smallDisk) Rename(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FileSystem.Rename(oldname, newname); err != nil {
		return err
	}
	if in := d.files[oldname]; in != nil {
		d.forget(oldname)
		d.forget(newname)
		d.named(newname, in)
	}
	return nil
}

func (d *smallDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FileSystem.Remove(name); err != nil {
		return err
	}
	d.forget(name)
	return nil
}

func (d *smallDisk) RemoveAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FileSystem.RemoveAll(name); err != nil {
		return err
	}
	for at := range d.files {
		if at == name || strings.HasPrefix(at, path.Clean(name)+"/") {
			d.forget(at)
		}
	}
	return nil
}

// smallFile is an open file of a small disk.
type smallFile struct {
	store.OpenedFile
	d  *smallDisk
	in *smallInode
}

// WriteAt writes as much of p as there is room for.
func (f *smallFile) WriteAt(p []byte, off int64) (int, error) {
	fits := min(max(f.d.take(f.in, off+int64(len(p)))-off, 0), int64(len(p)))
	n, err := f.OpenedFile.WriteAt(p[:fits], off)
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Err: syscall.ENOSPC}
	}
	return n, err
}

func (f *smallFile) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.used -= f.in.size - size
	f.in.size = size
	return f.OpenedFile.Truncate(size)
}

func (f *smallFile) Allocate(size int64) error {
	if f.d.take(f.in, size) < size {
		return &os.PathError{Op: "allocate", Err: syscall.ENOSPC}
	}
	return f.OpenedFile.Allocate(size)
}

// onSmallDisk opens the store on a small disk. The function kill ends it as the end
// of its process would: nothing that it does reaches the disk any more.
func onSmallDisk(t *testing.T, d *smallDisk, opts store.Options) (s *store.Store, kill func()) {
	t.Helper()
	var dead atomic.Bool
	ask := opts.Fault
	opts.Fault = func(op store.FileOp, path string) error {
		if dead.Load() {
			return syscall.EIO
		}
		if ask != nil {
			return ask(op, path)
		}
		return nil
	}
	s, err := store.OpenOn(d, &opts)
	must(t, err)
	kill = func() { dead.Store(true) }
	t.Cleanup(func() { _ = s.Close() })
	return s, kill
}

// random is bytes that cannot be made less.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // does not fail
	return string(b)
}

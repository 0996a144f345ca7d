package store_test

import (
	"math/rand"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/redeliver/redeliver/host/emulator/store"
)

const mib = 1 << 20

// smallDisk is a file system in memory that has so much room and no more. It
// refuses the rest of a write that does not fit with ENOSPC. It counts the bytes
// of files that have a name.
type smallDisk struct {
	vfs.FS

	mu    sync.Mutex
	size  int64
	used  int64
	files map[string]*smallInode
}

type smallInode struct{ size int64 }

func newSmallDisk(size int64) *smallDisk {
	return &smallDisk{FS: vfs.NewMem(), size: size, files: map[string]*smallInode{}}
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

func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free := uint64(max(d.size-d.used, 0))
	return vfs.DiskUsage{AvailBytes: free, TotalBytes: uint64(d.size), UsedBytes: uint64(d.used)}, nil
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

func (d *smallDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.FS.Create(name, category)
	if err != nil {
		return nil, err
	}
	in := &smallInode{}
	d.named(name, in)
	return &smallFile{File: f, d: d, in: in}, nil
}

func (d *smallDisk) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.FS.OpenReadWrite(name, category, opts...)
	if err != nil {
		return nil, err
	}
	in := d.files[name]
	if in == nil {
		in = &smallInode{}
		d.named(name, in)
	}
	return &smallFile{File: f, d: d, in: in}, nil
}

func (d *smallDisk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.Rename(oldname, newname); err != nil {
		return nil, err
	}
	return d.OpenReadWrite(newname, category)
}

func (d *smallDisk) Rename(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FS.Rename(oldname, newname); err != nil {
		return err
	}
	if in := d.files[oldname]; in != nil {
		d.forget(oldname)
		d.named(newname, in)
	}
	return nil
}

func (d *smallDisk) Link(oldname, newname string) error {
	return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: syscall.ENOSYS}
}

func (d *smallDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FS.Remove(name); err != nil {
		return err
	}
	d.forget(name)
	return nil
}

func (d *smallDisk) RemoveAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.FS.RemoveAll(name); err != nil {
		return err
	}
	for at := range d.files {
		if at == name || strings.HasPrefix(at, path.Clean(name)+"/") {
			d.forget(at)
		}
	}
	return nil
}

// smallFile is an open file of a small disk. Its writes go on from the start of the
// file, as the engine's do.
type smallFile struct {
	vfs.File
	d   *smallDisk
	in  *smallInode
	pos int64
}

func (f *smallFile) Write(p []byte) (int, error) {
	n, err := f.fit(p, f.pos, f.File.Write)
	f.pos += int64(n)
	return n, err
}

func (f *smallFile) WriteAt(p []byte, off int64) (int, error) {
	return f.fit(p, off, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

// fit writes as much of p as there is room for.
func (f *smallFile) fit(p []byte, off int64, write func(p []byte) (int, error)) (int, error) {
	fits := min(max(f.d.take(f.in, off+int64(len(p)))-off, 0), int64(len(p)))
	n, err := write(p[:fits])
	if err == nil && n < len(p) {
		err = &os.PathError{Op: "write", Err: syscall.ENOSPC}
	}
	return n, err
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
	for i := range b {
		b[i] = byte(rand.Int())
	}
	return string(b)
}

package store

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"
)

// memFS is a file system in memory. If power may go it also knows what that would leave:
// the content of files as of their last Sync, under the names as of the last SyncDir of
// their directory.
type memFS struct {
	loses bool // power may go: what is durable is kept apart

	mu    sync.Mutex
	names map[string]*memNode // files and directories, by their whole names
	lasts map[string]*memNode // the durable names
}

// memNode is a file, or a directory.
type memNode struct {
	dir  bool
	data []byte
	last []byte // the durable content
}

var errUnknownRoom = errors.New("the room in memory is unknown")

func newMemFS() *memFS {
	root := &memNode{dir: true}
	return &memFS{names: map[string]*memNode{"/": root}, lasts: map[string]*memNode{"/": root}}
}

// afterPowerLoss is what a loss of power would leave now.
func (m *memFS) afterPowerLoss() *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := newMemFS()
	for name, n := range m.lasts {
		data := append([]byte(nil), n.last...)
		left := &memNode{dir: n.dir, data: data, last: append([]byte(nil), data...)}
		after.names[name], after.lasts[name] = left, left
	}
	return after
}

func (m *memFS) find(op, name string) (*memNode, error) {
	if n := m.names[name]; n != nil {
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (m *memFS) Create(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find("create", path.Dir(name)); err != nil {
		return nil, err
	}
	n := &memNode{}
	m.names[name] = n
	return &memFile{fs: m, n: n}, nil
}

func (m *memFS) Open(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	return &memFile{fs: m, n: n}, nil
}

func (m *memFS) Reopen(name string) (file, error) { return m.Open(name) }

func (m *memFS) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("rename", from)
	if err != nil {
		return err
	}
	delete(m.names, from)
	m.names[to] = n
	return nil
}

func (m *memFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find("remove", name); err != nil {
		return err
	}
	delete(m.names, name)
	return nil
}

func (m *memFS) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.names {
		if at == name || strings.HasPrefix(at, name+"/") {
			delete(m.names, at)
		}
	}
	return nil
}

func (m *memFS) MakeDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[name] == nil {
		m.names[name] = &memNode{dir: true}
	}
	return nil
}

func (m *memFS) List(dir string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find("list", dir); err != nil {
		return nil, err
	}
	for at := range m.names {
		if at != dir && path.Dir(at) == dir {
			names = append(names, path.Base(at))
		}
	}
	return names, nil
}

func (m *memFS) Stat(name string) (size int64, dir bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find("stat", name)
	if err != nil {
		return 0, false, err
	}
	return int64(len(n.data)), n.dir, nil
}

func (m *memFS) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.lasts, func(at string, _ *memNode) bool {
		return at != "/" && path.Dir(at) == dir && m.names[at] == nil
	})
	for at, n := range m.names {
		if path.Dir(at) == dir {
			m.lasts[at] = n
		}
	}
	return nil
}

func (m *memFS) Free(string) (uint64, error) { return 0, errUnknownRoom }

// memFile is an open file in memory.
type memFile struct {
	fs *memFS
	n  *memNode
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if off < int64(len(f.n.data)) {
		n = copy(p, f.n.data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if more := off + int64(len(p)) - int64(len(f.n.data)); more > 0 {
		f.n.data = append(f.n.data, make([]byte, more)...)
	}
	return copy(f.n.data[off:], p), nil
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if more := size - int64(len(f.n.data)); more > 0 {
		f.n.data = append(f.n.data, make([]byte, more)...)
	}
	f.n.data = f.n.data[:size]
	return nil
}

func (f *memFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.loses {
		f.n.last = append(f.n.last[:0], f.n.data...)
	}
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.n.data)), nil
}

func (f *memFile) Allocate(size int64) error { return f.Truncate(size) }
func (f *memFile) Close() error              { return nil }

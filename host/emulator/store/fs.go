package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// fileSystem is what a store needs of a file system: the operating system's, or one in
// memory. Names have forward slashes.
type fileSystem interface {
	Create(name string) (file, error) // empty, for reading and writing
	Open(name string) (file, error)   // that is there, for reading
	Reopen(name string) (file, error) // that is there, for reading and writing
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	MakeDir(name string) error // the directory above is there
	List(dir string) ([]string, error)
	Stat(name string) (size int64, dir bool, err error)

	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error

	// Free is how many bytes are free where a directory is. It fails where that is
	// unknown.
	Free(dir string) (uint64, error)
}

// file is an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error

	// Allocate makes the file as long as size, with the room for it taken.
	Allocate(size int64) error
}

// osFS is the operating system's. What it makes is private to the user.
type osFS struct{}

func (osFS) Create(name string) (file, error) {
	return openOS(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (osFS) Open(name string) (file, error)   { return openOS(name, os.O_RDONLY) }
func (osFS) Reopen(name string) (file, error) { return openOS(name, os.O_RDWR) }

func openOS(name string, flag int) (file, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), flag, privateFile)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error {
	return os.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

func (osFS) Remove(name string) error    { return os.Remove(filepath.FromSlash(name)) }
func (osFS) RemoveAll(name string) error { return os.RemoveAll(filepath.FromSlash(name)) }

func (osFS) MakeDir(name string) error {
	err := os.Mkdir(filepath.FromSlash(name), privateDir)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func (osFS) List(dir string) ([]string, error) {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

func (osFS) Stat(name string) (size int64, dir bool, err error) {
	info, err := os.Stat(filepath.FromSlash(name))
	if err != nil {
		return 0, false, err
	}
	return info.Size(), info.IsDir(), nil
}

// osFile is an open file of the operating system's.
type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Sync() error               { return syncData(f.File) }
func (f osFile) Allocate(size int64) error { return allocate(f.File, size) }

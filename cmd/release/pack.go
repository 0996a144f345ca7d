package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// entry is a file or a folder in an archive. Owners, times and the order of entries are the
// same in every run, so that the bytes are.
type entry struct {
	name  string // with slashes; of a folder with one at its end
	mode  int64
	data  []byte
	owner int
}

func (e entry) isDir() bool { return len(e.name) > 0 && e.name[len(e.name)-1] == '/' }

// tarred is a tar archive in the form that every tar reads.
func tarred(entries []entry, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: when, Uid: e.owner, Gid: e.owner, Format: tar.FormatUSTAR}
		if e.isDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped has neither name nor time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// tarGz is a compressed tar archive.
func tarGz(entries []entry, when time.Time) ([]byte, error) {
	data, err := tarred(entries, when)
	if err != nil {
		return nil, err
	}
	return gzipped(data)
}

// zipped is a zip archive.
func zipped(entries []entry, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
		h.SetMode(fs.FileMode(e.mode))
		if e.isDir() {
			h.Method = zip.Store
			h.SetMode(fs.ModeDir | fs.FileMode(e.mode))
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

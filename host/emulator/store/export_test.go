package store

import "github.com/cockroachdb/pebble/v2/vfs"

// OpenOn opens the store that a file system in memory holds.
func OpenOn(fs vfs.FS, opts *Options) (*Store, error) { return openOn(fs, opts) }

// WithMemTable makes the engine write tables often.
func (o *Options) WithMemTable(bytes uint64) *Options { o.memTable = bytes; return o }

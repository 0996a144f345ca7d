package store

// FileSystem and OpenedFile are for tests that bring their own.
type (
	FileSystem = fileSystem
	OpenedFile = file
)

// WithSegment makes the segments of the log as long as that.
func (o *Options) WithSegment(bytes int64) *Options { o.segment = bytes; return o }

// OpenOn opens the store that a file system in memory holds.
func OpenOn(fs FileSystem, opts *Options) (*Store, error) { return openOn(fs, opts) }

// MemoryFS is a file system in memory.
func MemoryFS() FileSystem { return newMemFS() }

// Powered is a file system in memory that may lose its power.
type Powered struct{ *memFS }

// PoweredFS returns one.
func PoweredFS() Powered {
	fs := newMemFS()
	fs.loses = true
	return Powered{fs}
}

// Lost is what a loss of power would leave.
func (p Powered) Lost() FileSystem { return p.afterPowerLoss() }

// Recover tries to write, and opens a store that has failed, without the waits between.
func (s *Store) Recover() error {
	s.mu.Lock()
	if s.outage != nil {
		s.outage.open, s.outage.write = pause{}, pause{}
	}
	s.mu.Unlock()
	return s.takeWrites()
}

// Cleaned returns when nobody cleans the log that a view reads.
func (v *View) Cleaned() { v.e.cleaners.Wait() }

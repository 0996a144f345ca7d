package plugin

import "os"

// takeMark makes the mark of a folder and holds it until it is closed.
func takeMark(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// abandoned reports whether a mark was free, and removes it then: the system does
// not remove an open file.
func abandoned(name string) bool { return os.Remove(name) == nil }

package plugin

import "os"

// takeMark makes the mark of a folder and holds it until it is closed.
func takeMark(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// abandoned reports whether nobody held a mark, which is gone then: the system lets
// nobody remove a file that is open.
func abandoned(name string) bool { return os.Remove(name) == nil }

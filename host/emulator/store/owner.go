package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// own takes the directory for this process until the returned closer is
// closed. The operating system releases it when the process ends in any way.
// The owner stands in a file beside the lock, because a locked file cannot
// be read everywhere.
func own(dir string) (io.Closer, error) {
	lock, err := lockFile(filepath.Join(dir, lockName))
	if errors.Is(err, errTaken) {
		return nil, owner(dir)
	}
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%d\n%s\n", os.Getpid(), strings.Join(os.Args, " "))
	if err := os.WriteFile(filepath.Join(dir, ownerName), []byte(text), privateFile); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func owner(dir string) *InUseError {
	e := &InUseError{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, ownerName))
	if err != nil {
		return e
	}
	pid, command, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(pid, "%d", &e.PID); err == nil {
		e.Command, _, _ = strings.Cut(command, "\n")
	}
	return e
}

// errTaken says that another process, or another Store of this one, has a lock.
var errTaken = errors.New("the lock is taken")

// held is the locks of this process: the operating system keeps them from others only, and
// would end one with any other use of its file.
var held sync.Map // by name

// heldFile is a lock.
type heldFile struct{ *os.File }

// lockFile takes a file, which is made if it is not there.
func lockFile(name string) (io.Closer, error) {
	if _, taken := held.LoadOrStore(name, true); taken {
		return nil, errTaken
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, privateFile)
	if err == nil {
		if err = hold(f); err == nil {
			return heldFile{f}, nil
		}
		err = errors.Join(err, f.Close())
	}
	held.Delete(name)
	return nil, err
}

func (h heldFile) Close() error {
	defer held.Delete(h.Name())
	return h.File.Close()
}

package watch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// events are the changes of the entries of some folders.
type events interface {
	events() <-chan fsnotify.Event
	errors() <-chan error
	Close() error
}

// notified are the events of the system.
type notified struct{ *fsnotify.Watcher }

func (n notified) events() <-chan fsnotify.Event { return n.Events }
func (n notified) errors() <-chan error          { return n.Errors }

// open watches folders by the events of the system, or by looking at them where that
// cannot be: on a file system that tells of no events, and when the system has no more
// watches. It says so once.
func (w *watching) open(folders []string) (events, error) {
	if w.Poll {
		return poll(folders, pollEvery), nil
	}
	for _, path := range folders {
		if name := eventless(path); name != "" && path != filepath.Dir(w.Dir) {
			w.polls("the file system of " + path + ", " + name + ", tells of no changes")
			return poll(folders, pollEvery), nil
		}
	}
	files, err := fsnotify.NewWatcher()
	for i := 0; err == nil && i < len(folders); i++ {
		if err = files.Add(folders[i]); err != nil && !exhausted(err) && (folders[i] != w.Dir || errors.Is(err, fs.ErrNotExist)) {
			err = nil // it has gone meanwhile, or may not be read
		}
	}
	if err == nil {
		return notified{files}, nil
	}
	if files != nil {
		_ = files.Close() // the first error counts
	}
	if exhausted(err) {
		w.polls("the system has no more watches for files: raise fs.inotify.max_user_watches and max_user_instances")
		return poll(folders, pollEvery), nil
	}
	return nil, err
}

// exhausted reports whether the system cannot watch any more.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// polls says once why files are looked at.
func (w *watching) polls(why string) {
	if !w.saidPolls {
		w.saidPolls = true
		w.Log.Warn().Msg(why + "; the files of the app are looked at every " + pollEvery.String() + " instead")
	}
}

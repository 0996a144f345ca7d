package watch

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/redeliver/redeliver/host/internal/linked"
)

// A Tree waits for changes of files below some folders: of sources, not of what tools
// write and of hidden files. Folders that come later belong to a later Tree. Its methods
// are for one goroutine.
type Tree struct{ files *fsnotify.Watcher }

// NewTree watches folders with all that is below them. What cannot be read is left out.
func NewTree(folders []string) (*Tree, error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, root := range folders {
		err := linked.Walk(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return nil
			case path != root && written(d.Name()):
				return fs.SkipDir
			}
			return files.Add(path)
		})
		if err != nil {
			_ = files.Close() // the first error counts
			return nil, err
		}
	}
	return &Tree{files}, nil
}

// Close ends the watch.
func (t *Tree) Close() error { return t.files.Close() }

// Changed returns when something has changed since NewTree and all has been quiet since
// then for so long, in real time, or when ctx ends.
func (t *Tree) Changed(ctx context.Context, quiet time.Duration) { //clock:outside file events
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-t.files.Events:
			if !ok {
				return
			}
			if ev.Op != fsnotify.Chmod && !written(filepath.Base(ev.Name)) {
				settled.Reset(quiet)
			}
		case <-t.files.Errors: // too many events: something has changed
			settled.Reset(quiet)
		case <-settled.C:
			return
		}
	}
}

// written reports whether files and folders of that name are no sources: what tools write,
// packages, hidden ones.
func written(name string) bool {
	switch name {
	case "node_modules", "__pycache__", "bin", "obj", "target":
		return true
	}
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~")
}

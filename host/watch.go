package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/redeliver/redeliver/host/app"
)

// Quiet times after which a change counts as complete (host-and-retry 7.1).
const (
	configQuiet  = 500 * time.Millisecond // host.json, function.json, directories
	handlerQuiet = 300 * time.Millisecond // files of the running handler
)

// Watch follows the app folder and reloads the app when something in it changed
// that matters (host-and-retry 7.1), until ctx ends. It returns when nothing of
// it runs any more. The files are the real world: Watch waits in real time and
// enters the clock only to reload. What a reload has to say stands in the
// journal.
func (h *Host) Watch(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %q: %w", h.dir, err)
	}
	defer w.Close()
	t := &tree{root: h.dir, add: w.Add}
	if err := t.addAll(h.dir); err != nil {
		return fmt.Errorf("watch %q: %w", h.dir, err)
	}
	if h.current.Load() != nil {
		// What changed after the load and before somebody watched. An app that did
		// not change is left alone.
		_ = h.Reload(ctx) // refusals are in the journal
	}
	return h.follow(ctx, w.Events, w.Errors, t)
}

// follow is Watch without the watcher: it turns file events into reloads.
func (h *Host) follow(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error, t *tree) error { //clock:outside file events
	timer := time.NewTimer(time.Hour) //clock:outside quiet time of real files
	timer.Stop()
	defer timer.Stop()
	folders := h.functionFolders()
	var due time.Time
	if h.State() == Running {
		// What changed between the load and this moment gave no event; a reload of
		// an unchanged app does nothing.
		due = postpone(due, realNow(), configQuiet)
		timer.Reset(time.Until(due)) //clock:outside quiet time of real files
	}
	for {
		select { //clock:outside file events
		case <-ctx.Done(): //clock:outside ctx is of the real world
			return nil
		case err, ok := <-errs: //clock:outside file events
			if !ok {
				return nil
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				// Something was missed; a reload of an unchanged app does nothing.
				due = postpone(due, realNow(), configQuiet)
				timer.Reset(time.Until(due)) //clock:outside quiet time of real files
				continue
			}
			h.log.Warn().Err(err).Msg("file watcher")
		case ev, ok := <-events: //clock:outside file events
			if !ok {
				return nil
			}
			rel, err := filepath.Rel(h.dir, ev.Name)
			if err != nil || rel == "." {
				continue
			}
			isDir := t.see(ev)
			switch h.classify(filepath.ToSlash(rel), ev.Op, isDir, folders) {
			case ignore:
				continue
			case reloadNow:
				due = realNow()
			case reloadConfig:
				due = postpone(due, realNow(), configQuiet)
			case reloadHandler:
				due = postpone(due, realNow(), handlerQuiet)
			}
			timer.Reset(time.Until(due)) //clock:outside quiet time of real files
		case <-timer.C: //clock:outside file events
			due = time.Time{}
			_ = h.Reload(ctx) // refusals are in the journal
			folders = h.functionFolders()
		}
	}
}

// postpone returns when a change that matters is acted upon: quiet after the
// last event, and never before what an earlier event asked for.
func postpone(due, now time.Time, quiet time.Duration) time.Time {
	if next := now.Add(quiet); next.After(due) {
		return next
	}
	return due
}

// action is what a change of a file leads to.
type action uint8

const (
	ignore        action = iota
	reloadNow            // app_offline.htm appeared
	reloadConfig         // after configQuiet
	reloadHandler        // after handlerQuiet
)

// classify decides what a change means; the first rule that matches wins
// (host-and-retry 7.1; host: FileMonitoringService.cs). rel is the slash path
// below the app folder; folders are its direct sub-folders at the last load.
func (h *Host) classify(rel string, op fsnotify.Op, isDir bool, folders string) action {
	first, _, _ := strings.Cut(rel, "/")
	if unwatched[first] {
		return ignore
	}
	if op == fsnotify.Chmod {
		return ignore // editors and virus scanners touch; the content is the same
	}
	var conf app.Config
	if a := h.lastRead(); a != nil {
		conf = a.Config
	}
	for _, dir := range conf.WatchDirectories {
		// Case-sensitive, and top-level names only.
		if first == dir {
			return reloadConfig
		}
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	if strings.EqualFold(rel, offlineFile) {
		if op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename) {
			return reloadConfig
		}
		return reloadNow
	}
	for _, file := range conf.WatchFiles {
		if strings.EqualFold(name, file) {
			return reloadConfig
		}
	}
	if (isDir || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)) && h.functionFolders() != folders {
		return reloadConfig
	}
	if h.ofHandler(rel, name) {
		return reloadHandler
	}
	return ignore
}

// unwatched are the top-level folders whose changes never matter.
var unwatched = map[string]bool{".redeliver": true, ".git": true} // read only

// ofHandler reports whether a file belongs to the running handler: Go sources
// and module files, or the prebuilt executable.
func (h *Host) ofHandler(rel, name string) bool {
	if a := h.lastRead(); a != nil && a.Handler.Kind == app.Executable {
		path, err := filepath.Rel(h.dir, a.Handler.Path)
		return err == nil && rel == filepath.ToSlash(path)
	}
	// Also when no handler was found yet: writing one is how it is found.
	return strings.HasSuffix(name, ".go") || name == "go.mod" || name == "go.sum"
}

// functionFolders lists the direct sub-folders of the app, as one text to
// compare.
func (h *Host) functionFolders() string {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		if e.IsDir() && !unwatched[e.Name()] {
			b.WriteString(e.Name())
			b.WriteByte('/')
		}
	}
	return b.String()
}

// tree keeps the watcher's folders complete: fsnotify watches folders one by
// one and not what appears below them.
type tree struct {
	root string
	add  func(string) error
}

// see follows an event and reports whether it concerns a folder that exists.
func (t *tree) see(ev fsnotify.Event) (isDir bool) {
	if !ev.Op.Has(fsnotify.Create) {
		return false
	}
	info, err := os.Stat(ev.Name)
	if err != nil || !info.IsDir() {
		return false
	}
	_ = t.addAll(ev.Name) // gone again already, or no right to read: nothing to follow
	return true
}

// addAll watches dir and the folders below it, huge ones that hold no function
// left out.
func (t *tree) addAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == t.root {
				return err
			}
			return nil // vanished while walking
		}
		if !e.IsDir() {
			return nil
		}
		if path != t.root && app.Unwatched(e.Name()) {
			return filepath.SkipDir
		}
		if err := t.add(path); err != nil && path == t.root {
			return err
		}
		return nil
	})
}

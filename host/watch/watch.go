// Package watch follows the files of an app, and has it reloaded when something in them
// changed that matters (spec host-and-retry 7.1).
package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/host/internal/linked"
)

// Quiet times after which a change counts as complete (spec host-and-retry 7.1).
const (
	configQuiet  = 500 * time.Millisecond // host.json, function.json, directories
	handlerQuiet = 300 * time.Millisecond // files of the running handler
)

// Options say what is watched, and for whom.
type Options struct {
	Dir     string
	Sources *gobuild.Sources // of the app's program
	Log     zerolog.Logger

	// App is the app as it was read last, nil before; Settings are the settings of
	// the app.
	App      func() *app.App
	Settings func() *appsettings.Settings

	// Awaits reports whether nothing but a change can bring the host another state.
	Awaits func() bool

	// Reload reloads the app, or gives that up when ctx ends. An app that did not change
	// is left alone. Half reports that a build is about to write the app, or that the host is
	// starting: the app is to be looked at again when its files have been left alone for a
	// while.
	Reload func(ctx context.Context) (half bool)

	// Differs reports, while Reload is at work, whether the app is another by now than the
	// one that is being loaded.
	Differs func(ctx context.Context) bool

	// Poll looks at the files again and again, for folders without file events.
	Poll bool
}

// Follow follows the app folder, and the further folders that its Go
// program is built of, until ctx ends. It returns when nothing of it runs
// any more. The files are the real world: it waits in real time.
func Follow(ctx context.Context, opts *Options) error {
	w := &watching{Options: *opts}
	defer w.close()
	if _, err := os.ReadDir(w.Dir); err != nil {
		return fmt.Errorf("watch %q: %w", w.Dir, err)
	}
	if _, err := w.renew(); err != nil {
		return err
	}
	return w.follow(ctx)
}

// watching is one Follow.
type watching struct {
	Options
	files   events
	watched map[string]fs.FileInfo // folders, by path
	links   map[string]bool        // by path: links by which something of the app is reached
	behind  map[string]string      // by the path of a file that a link leads to: the link's path
	moved   bool                   // a folder or link has come or gone since

	load     *load         // under way, or nil
	patience time.Duration // with a load that gives way to the next

	saidPolls bool

	saidSettings []byte // local.settings.json as it was seen last
}

func (w *watching) close() {
	if w.files != nil {
		_ = w.files.Close()
	}
}

// renew watches the folders that are there now, and reports whether these are
// others than before. A watch follows its folder wherever that is moved to, and
// ends with it, so that after a move all are made anew; a folder that took the
// place of another may look the same, down to its number. Changes meanwhile give no
// event: the caller reloads.
func (w *watching) renew() (renewed bool, err error) {
	now := w.watchedFolders()
	if w.files != nil && !w.moved && maps.EqualFunc(now, w.watched, os.SameFile) {
		return false, nil
	}
	w.close()
	w.watched, w.moved = now, false
	if w.files, err = w.open(slices.Sorted(maps.Keys(now))); err != nil {
		return false, fmt.Errorf("watch %q: %w", w.Dir, err)
	}
	return true, nil
}

// follow turns file events into reloads.
func (w *watching) follow(ctx context.Context) error { //clock:outside file events
	next := reloadTime{timer: time.NewTimer(time.Hour)} //clock:outside quiet time of real files
	next.timer.Stop()
	defer next.timer.Stop()
	defer w.giveUp()
	folders := w.functionFolders()
	w.begin(ctx) // for changes after the load and before the watch; a start may be under way
	if w.Awaits() {
		// Changes between the load and this moment gave no event, and nothing else brings
		// these states to an end.
		next.after(configQuiet)
	}
	for {
		select { //clock:outside file events
		case <-ctx.Done(): //clock:outside ctx is of the real world
			return nil
		case err, ok := <-w.files.errors(): //clock:outside file events
			if !ok {
				return nil
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				// Something was missed; a reload of an unchanged app does nothing.
				next.after(configQuiet)
				continue
			}
			w.Log.Warn().Err(err).Msg("file watcher")
		case ev, ok := <-w.files.events(): //clock:outside file events
			if !ok {
				return nil
			}
			w.schedule(&next, w.means(ev, folders))
		case <-next.timer.C: //clock:outside file events
			next.due = time.Time{}
			if wait := w.giveWay(ctx); wait > 0 {
				next.at(time.Now().Add(wait))
				continue
			}
			if _, err := w.renew(); err != nil {
				return err
			}
			w.begin(ctx)
		case <-w.load.ended(): //clock:outside a load waits for programs
			half, renewed, now, err := w.loaded()
			if err != nil {
				return err
			}
			folders = now
			if renewed {
				next.after(handlerQuiet) // the reload may have missed what is watched only now
			}
			if half {
				next.after(outputQuiet)
			}
		}
	}
}

// reloadTime is when the files have been quiet for long enough.
type reloadTime struct {
	timer *time.Timer
	due   time.Time // zero: never
}

func (r *reloadTime) at(when time.Time) {
	r.due = when
	r.timer.Reset(time.Until(when)) //clock:outside quiet time of real files
}

func (r *reloadTime) after(quiet time.Duration) { r.at(postpone(r.due, time.Now(), quiet)) }

// schedule does what an event asks for.
func (w *watching) schedule(next *reloadTime, asked action) {
	switch {
	case asked == reloadNow:
		next.at(time.Now())
	case asked == reloadHandler:
		next.after(handlerQuiet)
	case asked == reloadConfig || w.moved: // another folder may stand in its place
		next.after(configQuiet)
	}
}

// loaded ends a load: whether a build by others was not complete, whether other folders
// are watched now, and the functions there were before that.
func (w *watching) loaded() (half, renewed bool, folders string, err error) {
	half = w.load.half
	w.load, w.patience = nil, 0
	w.sayNewSettings()
	folders = w.functionFolders()
	renewed, err = w.renew()
	return half, renewed, folders, err
}

// means decides what an event means.
func (w *watching) means(ev fsnotify.Event, folders string) action {
	_, known := w.watched[ev.Name]
	w.moved = w.moved || known && ev.Op != fsnotify.Chmod
	isDir := known && ev.Name != w.Dir
	if !isDir && ev.Op.Has(fsnotify.Create) {
		info, err := os.Stat(ev.Name)
		isDir = err == nil && info.IsDir()
	}
	name := ev.Name
	if link, led := w.behind[name]; led {
		name = link
	}
	rel, err := filepath.Rel(w.Dir, name)
	switch {
	case err != nil || ev.Op == fsnotify.Chmod:
		return ignore
	case w.links[ev.Name]: // it leads elsewhere now
		w.moved = true
		return reloadConfig
	case rel == ".": // the app folder itself came or went
		return reloadConfig
	case filepath.IsLocal(rel):
		return w.classify(filepath.ToSlash(rel), ev.Op, isDir, folders)
	case w.ofHandlerOutside(ev.Name, isDir), w.ofSecrets(ev.Name, isDir):
		return reloadHandler
	case known, slices.Contains(w.Sources.Folders(), filepath.Dir(ev.Name)) && (isDir || w.Sources.Reads(ev.Name)):
		return reloadHandler
	}
	return ignore
}

// postpone returns when a change that matters is acted upon: quiet after the
// last event, and never before what an earlier event asked for.
func postpone(due, now time.Time, quiet time.Duration) time.Time {
	if next := now.Add(quiet); next.After(due) {
		return next
	}
	return due
}

// action is the effect of a file's change.
type action uint8

const (
	ignore        action = iota
	reloadNow            // app_offline.htm appeared
	reloadConfig         // after configQuiet
	reloadHandler        // after handlerQuiet
)

// classify decides what a change means; the first rule that matches wins
// (spec host-and-retry 7.1; host: FileMonitoringService.cs). rel is the slash path
// below the app folder; folders are its direct sub-folders at the last load.
func (w *watching) classify(rel string, op fsnotify.Op, isDir bool, folders string) action {
	first, _, _ := strings.Cut(rel, "/")
	if unwatched[first] {
		return ignore
	}
	if op == fsnotify.Chmod {
		return ignore // editors and virus scanners touch; the content is the same
	}
	var conf hostjson.Config
	if a := w.App(); a != nil {
		conf = a.Config
	}
	for _, dir := range conf.WatchDirectories {
		// Case-sensitive, and top-level names only.
		if first == dir {
			return reloadConfig
		}
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	if strings.EqualFold(rel, OfflineFile) {
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
	if w.left(rel, isDir) {
		return ignore
	}
	if (isDir || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)) && w.functionFolders() != folders {
		return reloadConfig
	}
	if rel == localSettings || w.ofHandler(rel, name, isDir) {
		return reloadHandler
	}
	return ignore
}

// localSettings holds settings that are read once per process, as on the platform.
const localSettings = "local.settings.json"

// sayNewSettings tells, once for each edit, that an edit of local.settings.json has no
// effect yet.
func (w *watching) sayNewSettings() {
	text, err := os.ReadFile(filepath.Join(w.Dir, localSettings))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	said, settings := w.saidSettings, w.Settings()
	w.saidSettings = text
	silent := settings == nil || bytes.Equal(text, settings.LocalFile()) || bytes.Equal(text, said)
	if !silent {
		w.Log.Warn().Msg(localSettings + " has changed: settings are read once; stop the host and start it again to use them")
	}
}

// unwatched are the top-level folders whose changes never matter.
var unwatched = map[string]bool{".redeliver": true, ".git": true} // read only

// ofHandler reports whether a file, or a folder that came or went, belongs to the
// running handler: what its Go program is built of, or the prebuilt executable.
func (w *watching) ofHandler(rel, name string, isDir bool) bool {
	if a := w.App(); a != nil && a.Handler.Kind == app.Executable {
		path, err := filepath.Rel(w.Dir, a.Handler.Path)
		path = filepath.ToSlash(path)
		return err == nil && (rel == path || isDir && strings.HasPrefix(path, rel+"/"))
	}
	if a := w.App(); a != nil && len(a.Handler.Files) > 0 {
		path := filepath.Join(w.Dir, filepath.FromSlash(rel))
		if slices.ContainsFunc(a.Handler.Files, func(file string) bool {
			return file == path || isDir && strings.HasPrefix(file, path+string(filepath.Separator))
		}) {
			return true
		}
	}
	if a := w.App(); a != nil && a.Handler.Kind == app.Custom {
		return false
	}
	if a := w.App(); a != nil && a.Handler.Reads != nil {
		return a.Handler.Reads(filepath.Join(w.Dir, filepath.FromSlash(rel)), isDir)
	}
	if a := w.App(); a != nil && a.Handler.Kind == app.Language && a.Handler.Worker {
		if isDir {
			return a.Handler.Leaves != nil // a folder of sources, which is to be watched from now on
		}
		return slices.Contains(a.Handler.Extensions, strings.ToLower(filepath.Ext(name)))
	}
	// Also when no handler was found yet: writing one is how it is found.
	return isDir && !app.Unwatched(name) || w.Sources.Reads(filepath.Join(w.Dir, filepath.FromSlash(rel)))
}

// left reports whether a path below the app lies where nothing of the app is.
func (w *watching) left(rel string, isDir bool) bool {
	a := w.App()
	if a == nil || a.Handler.Leaves == nil {
		return false
	}
	folders := strings.Split(rel, "/")
	if !isDir {
		folders = folders[:len(folders)-1]
	}
	return slices.ContainsFunc(folders, a.Handler.Leaves)
}

// ofHandlerOutside reports whether a path is in one of the further folders of the
// handler, and a file of it or a folder.
func (w *watching) ofHandlerOutside(path string, isDir bool) bool {
	a := w.App()
	if a == nil || !slices.Contains(a.Handler.Folders, filepath.Dir(path)) {
		return false
	}
	if a.Handler.Reads != nil {
		return a.Handler.Reads(path, isDir)
	}
	return isDir && !a.Handler.Unwatched(filepath.Base(path)) || slices.Contains(a.Handler.Extensions, strings.ToLower(filepath.Ext(path)))
}

// leaves reports whether folders of that name hold nothing of the app.
func (w *watching) leaves(name string) bool {
	if a := w.App(); a != nil {
		return a.Handler.Unwatched(name)
	}
	return app.Unwatched(name)
}

// functionFolders lists the direct sub-folders of the app, as one text to
// compare.
func (w *watching) functionFolders() string {
	entries, err := os.ReadDir(w.Dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		if e = linked.Entry(w.Dir, e); e != nil && e.IsDir() && !unwatched[e.Name()] && !w.left(e.Name(), true) {
			b.WriteString(e.Name())
			b.WriteByte('/')
		}
	}
	return b.String()
}

// watchedFolders finds the folders to watch, because a watch concerns the entries
// of one folder: the app's, without huge ones that hold no function; further
// folders that its program is built from; the folder above the app; and the folders of
// links by which any of these is reached, and of the files that links lead to.
func (w *watching) watchedFolders() map[string]fs.FileInfo {
	found := map[string]fs.FileInfo{}
	w.links, w.behind = map[string]bool{}, map[string]string{}
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			found[path] = info
		}
	}
	way := func(path string) {
		links, end := linked.Way(path)
		for _, link := range links {
			w.links[link] = true
			add(filepath.Dir(link))
		}
		if len(links) > 0 && path != end {
			w.behind[end] = path
			add(filepath.Dir(end))
		}
	}
	add(filepath.Dir(w.Dir))
	way(w.Dir)
	for _, path := range w.Sources.Folders() {
		add(path)
	}
	if a := w.App(); a != nil {
		for _, path := range a.Handler.Folders {
			add(path)
		}
	}
	if file := w.secrets(); file != "" {
		add(nearest(file))
	}
	real, _ := filepath.EvalSymlinks(w.Dir) // empty: it is not there
	_ = linked.Walk(w.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // vanished while walking, or no right to read: nothing to follow
		case e.IsDir() && path != w.Dir && w.leaves(e.Name()):
			return filepath.SkipDir
		case e.IsDir():
			add(path)
			if at, err := filepath.EvalSymlinks(path); err == nil && !within(real, at) {
				way(path)
			}
		case isLink(path):
			way(path)
		}
		return nil
	})
	w.danglingLinks(way)
	return found
}

// danglingLinks finds the links of the app that lead nowhere yet.
func (w *watching) danglingLinks(way func(path string)) {
	entries, _ := os.ReadDir(w.Dir) // it could be read a moment ago
	for _, e := range entries {
		if linked.Entry(w.Dir, e) == nil {
			way(filepath.Join(w.Dir, e.Name()))
		}
	}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// within reports whether a path is a folder or below it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

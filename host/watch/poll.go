package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is the time between two looks at the files.
const pollEvery = time.Second

// polled are events that are found by looking at the entries of folders.
type polled struct {
	out  chan fsnotify.Event
	end  chan struct{}
	done chan struct{}
}

// seen is what a look remembers of an entry: of what a link leads to.
type seen struct {
	target string // of a link
	size   int64
	when   time.Time
	mode   fs.FileMode
}

func (p *polled) events() <-chan fsnotify.Event { return p.out }
func (p *polled) errors() <-chan error          { return nil }

// Close ends the looking, and waits for that.
func (p *polled) Close() error { //clock:outside looks at real files
	close(p.end)
	<-p.done //clock:outside looks at real files
	return nil
}

// poll looks at folders in real time. What changes after it has returned is an event.
func poll(folders []string, every time.Duration) *polled { //clock:outside looks at real files
	p := &polled{make(chan fsnotify.Event), make(chan struct{}), make(chan struct{})}
	before := look(folders)
	go func() { //clock:outside Close waits for it
		defer close(p.done)
		ticker := time.NewTicker(every) //clock:outside looks at real files
		defer ticker.Stop()
		for {
			select { //clock:outside looks at real files
			case <-p.end: //clock:outside looks at real files
				return
			case <-ticker.C: //clock:outside looks at real files
			}
			now := look(folders)
			for _, ev := range differences(before, now) {
				select { //clock:outside looks at real files
				case <-p.end: //clock:outside looks at real files
					return
				case p.out <- ev: //clock:outside looks at real files
				}
			}
			before = now
		}
	}()
	return p
}

// look remembers the entries of folders, and these themselves.
func look(folders []string) map[string]seen {
	out := map[string]seen{}
	remember := func(path string) {
		info, err := os.Stat(path)
		if err != nil {
			if info, err = os.Lstat(path); err != nil {
				return
			}
		}
		s := seen{mode: info.Mode()}
		if !info.IsDir() { // a folder's time changes with what tools write there
			s.size, s.when = info.Size(), info.ModTime()
		}
		s.target, _ = os.Readlink(path) // most are no links
		out[path] = s
	}
	for _, folder := range folders {
		remember(folder)
		entries, _ := os.ReadDir(folder) // one that is gone has none
		for _, e := range entries {
			remember(filepath.Join(folder, e.Name()))
		}
	}
	return out
}

// differences are the events between two looks.
func differences(before, now map[string]seen) (out []fsnotify.Event) {
	for path, s := range now {
		switch old, known := before[path]; {
		case !known:
			out = append(out, fsnotify.Event{Name: path, Op: fsnotify.Create})
		case s != old:
			out = append(out, fsnotify.Event{Name: path, Op: fsnotify.Write})
		}
	}
	for path := range before {
		if _, there := now[path]; !there {
			out = append(out, fsnotify.Event{Name: path, Op: fsnotify.Remove})
		}
	}
	return out
}

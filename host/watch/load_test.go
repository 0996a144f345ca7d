//clock:outside watches real files

package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/host/watch"
)

// followed is an app folder that is watched; each reload is a context that comes out of
// the channel, and goes on until the reload is given up or it is told to end.
type followed struct {
	dir     string
	reloads chan context.Context
	end     chan bool // with whether the app is half there
}

func follow(t *testing.T, poll bool, differs func() bool) *followed {
	t.Helper()
	dir := t.TempDir()
	f := &followed{dir, make(chan context.Context), make(chan bool)}
	f.write(t, "{}")
	ctx, cancel := context.WithCancel(t.Context())
	read := &app.App{Config: hostjson.Config{WatchFiles: []string{"host.json"}}}
	done := make(chan error)
	go func() {
		done <- watch.Follow(ctx, &watch.Options{
			Dir: dir, Sources: gobuild.NewSources(dir, dir, nil), Log: zerolog.Nop(), Poll: poll,
			App: func() *app.App { return read }, Settings: func() *appsettings.Settings { return nil },
			Awaits:  func() bool { return false },
			Differs: func(context.Context) bool { return differs() },
			Reload: func(ctx context.Context) (half bool) {
				select {
				case f.reloads <- ctx:
				case <-ctx.Done():
					return false
				}
				select {
				case <-ctx.Done():
				case half = <-f.end:
				}
				return half
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Follow: %v", err)
		}
	})
	return f
}

func (f *followed) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, "host.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A load that does not come to an end is given up when the app changes again, and the
// next one begins. One of the same app goes on.
func TestLoadGivesWay(t *testing.T) {
	t.Parallel()
	asked := make(chan bool)
	f := follow(t, false, func() bool { return <-asked })
	first := <-f.reloads
	f.write(t, `{ }`)
	asked <- false
	if first.Err() != nil {
		t.Error("the load of the same app was given up")
	}
	asked <- true // it asks again meanwhile
	<-first.Done()
	second := <-f.reloads
	if second.Err() != nil {
		t.Error("the second load is given up")
	}
	f.end <- false
}

// Where there are no file events, the files are looked at.
func TestPoll(t *testing.T) {
	t.Parallel()
	f := follow(t, true, func() bool { return true })
	<-f.reloads
	f.end <- false
	f.write(t, `{"a": 1}`)
	<-f.reloads
	f.end <- false
}

// An app that is half there is looked at again, though nothing changes any more.
func TestHalfThere(t *testing.T) {
	t.Parallel()
	f := follow(t, false, func() bool { return true })
	<-f.reloads
	f.end <- true
	<-f.reloads
	f.end <- true
	<-f.reloads
	f.end <- false
}

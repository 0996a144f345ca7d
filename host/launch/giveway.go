package launch

import (
	"context"
	"errors"
	"sync"

	"github.com/redeliver/redeliver/host/app"
)

// Way is the load of a start that gives way to the next one. The zero value is ready.
type Way struct {
	mu      sync.Mutex
	reading bool               // the load has not read the app yet
	end     context.CancelFunc // of the load that is under way; nil: there is none
	given   bool               // it was ended by that
}

// GivesWay is a load that ends when its way is given up.
func GivesWay[T any](ctx context.Context, w *Way, load func(ctx context.Context) (T, error)) (made T, err error) {
	ctx, end := context.WithCancel(ctx) //clock:outside a load waits for programs
	defer end()
	w.mu.Lock()
	w.reading, w.given, w.end = true, false, end
	w.mu.Unlock()
	made, err = load(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end, w.given = nil, w.given && errors.Is(err, ErrCalledOff)
	return made, err
}

// HasRead is called when the load has read the app.
func (w *Way) HasRead() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = false
}

// Given reports whether the last load was given up for what the app is now.
func (w *Way) Given() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.given
}

// Give gives the load that is under way up, if it runs code of the app as it was read, and
// the app differs by now: that code may never come to an end. It reports whether there is
// such a load.
func (w *Way) Give(read *app.App, differs func() bool) bool {
	w.mu.Lock()
	end, reading := w.end, w.reading
	w.mu.Unlock()
	if end == nil || reading || read == nil || !MayHang(read) || !differs() {
		return end != nil
	}
	w.mu.Lock()
	w.given = true
	w.mu.Unlock()
	end()
	return true
}

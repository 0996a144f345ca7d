package blob

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
)

const (
	// scanInterval is the time between two passes over development storage
	// (source: ScanContainersStrategy.cs).
	scanInterval = 2 * time.Second

	// toldInterval is the time between two passes over containers whose service
	// tells of each change. They find what came without a write, such as a
	// restored state.
	toldInterval = time.Minute
)

// scanner finds versions of blobs and hands them to the executor.
type scanner struct {
	clk      clock.Clock
	ex       *executor
	fast     bool          // let the service tell
	interval time.Duration // between passes

	mu      sync.Mutex
	changed *clock.Cond
	watches []*watch
	due     []candidate // to be looked at now
	again   []candidate // at retryAt
	retryAt time.Time
	awaited bool // one of again is not there for a fault of a service
	queued  map[candidate]bool
	poked   bool // something is due, or a watch is new
	allowed bool // this host holds the lock for listing
	left    bool // nothing may be subscribed to any more
}

// watch is one container that functions look at.
type watch struct {
	account   Account
	container string
	told      bool // the service tells of changes
	stop      func()

	// With the lock of the scanner.
	functions []*Function
	next      time.Time // when the next pass is due; zero: at once
	joined    bool      // a function has joined: all blobs are looked at again

	// Of the scanner's goroutine.
	since  time.Time         // blobs modified before have been offered
	seen   map[string]string // ETags of those offered that were modified since, by name
	newest time.Time         // latest modification seen
}

type candidate struct {
	w    *watch
	name string
}

func newScanner(clk clock.Clock, ex *executor, fast bool, interval time.Duration) *scanner {
	s := &scanner{clk: clk, ex: ex, fast: fast, interval: interval, queued: map[candidate]bool{}}
	s.changed = clock.NewCond(clk, &s.mu)
	return s
}

// join adds a function. All blobs of its container are looked at once more: what
// was queued for others is new to it.
func (s *scanner) join(f *Function) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return
	}
	w := s.watchLocked(f.Account.Name, f.Pattern.Container())
	if w == nil {
		w = &watch{account: f.Account, container: f.Pattern.Container(), stop: func() {}}
		s.watches = append(s.watches, w)
		if waker, ok := f.Account.Blobs.(blob.Waker); ok && s.fast {
			w.told = true
			w.stop = waker.OnChange(w.container, func(name string) { s.tell(w, name) })
		}
	}
	w.functions = append(w.functions, f)
	w.joined, w.next = true, time.Time{}
	s.pokeLocked()
}

// leave ends all subscriptions.
func (s *scanner) leave() {
	s.mu.Lock()
	watches := s.watches
	s.watches, s.left = nil, true
	s.mu.Unlock()
	for _, w := range watches {
		w.stop()
	}
}

func (s *scanner) watchLocked(account, container string) *watch {
	for _, w := range s.watches {
		if w.account.Name == account && w.container == container {
			return w
		}
	}
	return nil
}

// look asks for another look at a blob that was found to have changed: at once,
// or in the next pass.
func (s *scanner) look(f *Function, container, name string) {
	s.mu.Lock()
	w := s.watchLocked(f.Account.Name, container)
	s.mu.Unlock()
	if w != nil {
		s.tell(w, name)
	}
}

func (s *scanner) tell(w *watch, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := candidate{w, name}
	switch {
	case s.queued[c]:
	case s.fast:
		s.queued[c] = true
		s.due = append(s.due, c)
		s.pokeLocked()
	default:
		s.againLocked(c, nil)
	}
}

// againLocked keeps a candidate for the next pass; fault is the reason, nil for a
// candidate that is due then in any case.
func (s *scanner) againLocked(c candidate, fault error) {
	if s.queued[c] {
		return
	}
	s.queued[c] = true
	if len(s.again) == 0 {
		s.retryAt, s.awaited = s.clk.Now().Add(scanInterval), false
	}
	s.awaited = s.awaited || fault == nil
	s.again = append(s.again, c)
	s.pokeLocked()
}

// allow lets the scanner list containers, or forbids it. It always looks at blobs
// that it is told of: receipts keep hosts apart.
func (s *scanner) allow(allowed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = allowed
	s.pokeLocked()
}

func (s *scanner) pokeLocked() {
	s.poked = true
	s.changed.Signal()
}

func (s *scanner) poke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pokeLocked()
}

// run scans until ctx ends (nil) or a service fails for good.
func (s *scanner) run(ctx context.Context) error {
	for {
		err := s.work(ctx)
		if err == nil {
			err = s.scan(ctx)
		}
		if err == nil {
			err = s.wait(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// wait returns when something is to be done. Waiting for a pass that may find
// nothing is no reason for virtual time to jump, nor is a service that does not
// answer; a blob that has to be looked at again is.
func (s *scanner) wait(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := s.clk.Now()
		if len(s.again) > 0 && !now.Before(s.retryAt) {
			s.due, s.again = append(s.due, s.again...), nil
			s.poked = true
		}
		if s.poked || ctx.Err() != nil {
			s.poked = false
			return ctx.Err()
		}
		var err error
		switch {
		case len(s.again) > 0 && s.awaited:
			err = s.changed.WaitUntil(ctx, s.retryAt)
		case len(s.again) > 0:
			err = s.changed.IdleUntil(ctx, s.retryAt)
		default:
			var timer *clock.Timer
			if at, ok := s.nextPassLocked(); ok {
				timer = s.clk.AfterFunc(at.Sub(now), "blob scan", s.poke)
			}
			err = s.changed.Wait(ctx)
			if timer != nil {
				timer.Stop()
			}
		}
		if err != nil {
			return err
		}
	}
}

// nextPassLocked is when the next container is due.
func (s *scanner) nextPassLocked() (at time.Time, ok bool) {
	if !s.allowed {
		return at, false
	}
	for _, w := range s.watches {
		if !ok || w.next.Before(at) {
			at, ok = w.next, true
		}
	}
	return at, ok
}

// work looks at what is due.
func (s *scanner) work(ctx context.Context) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		if len(s.due) == 0 {
			s.mu.Unlock()
			return nil
		}
		c := s.due[0]
		s.due = s.due[1:]
		delete(s.queued, c)
		s.mu.Unlock()
		if err := s.offer(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// offer hands a blob to the executor for each function that looks at its
// container. The end of ctx does not cut short work that has begun.
func (s *scanner) offer(ctx context.Context, c candidate) error {
	s.mu.Lock()
	functions := c.w.functions // only grows
	s.mu.Unlock()
	for _, f := range functions {
		again, err := s.ex.execute(context.WithoutCancel(ctx), f, c.w.container, c.name)
		if err != nil && !passing(err) {
			return fmt.Errorf("blob %s/%s: %w", c.w.container, c.name, err)
		}
		if again || err != nil {
			s.mu.Lock()
			s.againLocked(c, err)
			s.mu.Unlock()
		}
	}
	return nil
}

// passing reports whether scanning goes on after an error of a service.
func passing(err error) bool {
	return errors.Is(err, bindings.ErrNotFound) || errors.Is(err, bindings.ErrUnavailable) || errors.Is(err, bindings.ErrBeingDeleted)
}

// scan makes a pass over each container that is due.
func (s *scanner) scan(ctx context.Context) error {
	s.mu.Lock()
	var due []*watch
	for _, w := range s.watches {
		if s.allowed && !s.clk.Now().Before(w.next) {
			due = append(due, w)
		}
	}
	s.mu.Unlock()
	for _, w := range due {
		s.mu.Lock()
		if w.joined {
			w.joined = false
			w.forget()
		}
		s.mu.Unlock()
		err := s.pass(ctx, w)
		if err != nil && !passing(err) {
			return err
		}
		interval := s.interval
		if w.told && (err == nil || errors.Is(err, bindings.ErrNotFound)) {
			interval = max(interval, toldInterval)
		}
		s.mu.Lock()
		if !w.joined {
			w.next = s.clk.Now().Add(interval)
		}
		s.mu.Unlock()
	}
	return nil
}

// forget makes every blob new to the watch.
func (w *watch) forget() { w.since, w.newest, w.seen = time.Time{}, time.Time{}, nil }

// pass lists a container and offers what is new. Times have the resolution of a
// second, and a blob may be written behind a listing of several pages: what was
// modified since the newest blob of the pass before, or of the first page, is told
// apart by its ETag (S-8).
func (s *scanner) pass(ctx context.Context, w *watch) error {
	since, newest, seen := w.since, w.newest, map[string]string{}
	if newest.After(since) {
		since = newest
	}
	opts := &blob.ListOptions{}
	for {
		page, err := w.account.Blobs.Container(w.container).Blobs(ctx, opts)
		if errors.Is(err, bindings.ErrNotFound) {
			w.forget() // another container may come in its place
		}
		if err != nil {
			return err
		}
		for _, item := range page.Blobs {
			modified, etag := item.Properties.LastModified, item.Properties.ETag
			if modified.After(newest) {
				newest = modified
			}
			if opts.Marker == "" && modified.After(since) {
				since, seen = modified, map[string]string{}
			}
			if modified.Before(w.since) {
				continue
			}
			if w.seen[item.Name] != etag {
				if err := s.offer(ctx, candidate{w, item.Name}); err != nil {
					return err
				}
				if ctx.Err() != nil {
					return ctx.Err() // blobs that were not offered count as unseen
				}
			}
			if !modified.Before(since) {
				seen[item.Name] = etag
			}
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			break
		}
	}
	w.since, w.newest, w.seen = since, newest, seen
	return nil
}

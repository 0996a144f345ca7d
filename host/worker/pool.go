package worker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/process"
)

// A Pool keeps processes of workers running for the hosts that come later: with Spec.Pool
// a Worker takes one that another has given back. A process serves one Worker at a time,
// always of the same app, settings and environment. It keeps what its code keeps between
// calls: the values of modules, caches, timers. One that has ended, or whose call did not
// return, is not given back.
//
// Workers for .NET are not shared: their settlement service belongs to one host.
//
// Methods may be called concurrently.
type Pool struct {
	most int

	mu     sync.Mutex // guards:
	idle   []*conn    // the last one that was given back stands last
	closed bool
	ending sync.WaitGroup //clock:outside processes that are stopped
}

// NewPool returns a pool that keeps at most so many processes which serve nobody.
func NewPool(most int) *Pool { return &Pool{most: most} }

// A loan says whose a process of a pool is.
type loan struct {
	pool *Pool
	key  string
	user atomic.Pointer[Spec] // nil: nobody
}

// key is the same for what one process may serve.
func (s *Spec) key() string {
	return fmt.Sprintf("%q", []any{
		s.Path, s.Args, s.Dir, s.Env, int(s.Transport), s.Language, s.Directory, s.App, s.Indexing, s.Metadata, s.HostVersion, s.Content,
	})
}

// process starts the process of that number, or borrows it.
func (w *Worker) process(ctx context.Context, number int) (*conn, error) {
	if w.spec.Seat != nil {
		return w.spec.Seat.connect(ctx, w.spec, number)
	}
	p := w.spec.Pool
	if p == nil || number > 1 || w.spec.Count > 1 || w.spec.Language == languages.Dotnet || Debugs(w.spec.Args) {
		return connect(ctx, w.spec, number)
	}
	key := w.spec.key()
	if c := p.take(key); c != nil {
		c.child.Forget()
		c.loan.user.Store(w.spec)
		return c, nil
	}
	l := &loan{pool: p, key: key}
	l.user.Store(w.spec)
	own := *w.spec
	own.Life = nil // it may outlive this host
	own.Output = func(line process.Line) {
		if s := l.user.Load(); s != nil && s.Output != nil {
			s.Output(line)
		}
	}
	own.Log = func(line call.Log) {
		if s := l.user.Load(); s != nil && s.Log != nil {
			s.Log(line)
		}
	}
	own.Notice = nil
	if w.spec.Notice != nil {
		own.Notice = func(line call.Log) {
			if s := l.user.Load(); s != nil && s.Notice != nil {
				s.Notice(line)
			}
		}
	}
	c, err := connect(ctx, &own, number)
	if err == nil {
		c.loan = l
	}
	return c, err
}

// take returns an idle process of that key that is still well, nil if there is none.
func (p *Pool) take(key string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		c := p.idle[i]
		if c.child.Ended() || c.ended() != nil {
			p.idle = slices.Delete(p.idle, i, i+1)
			p.stop(c)
		} else if c.loan.key == key {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// ended is why the stream has ended, nil while it has not.
func (c *conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// GiveBack implements process.Lent.
func (c *conn) GiveBack() bool {
	if c.seat != nil {
		c.HangUp()
		return true
	}
	if c.loan == nil {
		return false
	}
	c.mu.Lock()
	well := c.err == nil && len(c.calls) == 0 && (c.indexed == nil || c.indexed.err == nil)
	c.mu.Unlock()
	p := c.loan.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if !well || p.closed {
		return false
	}
	c.loan.user.Store(nil)
	p.idle = append(p.idle, c)
	if len(p.idle) > p.most {
		p.stop(p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	return true
}

// stop ends a process that serves nobody, without waiting for it. p.mu is held.
func (p *Pool) stop(c *conn) {
	p.ending.Add(1)
	go func() { //clock:outside waited for by Close
		defer p.ending.Done()
		c.child.Stop(context.Background(), c.Bye)
		c.HangUp()
		c.Wait()
		c.Release()
	}()
}

// Close stops the processes that serve nobody, and waits until they are gone. Those that
// do end with their Workers.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, c := range p.idle {
		p.stop(c)
	}
	p.idle = nil
	p.mu.Unlock()
	p.ending.Wait() //clock:outside the ends of processes
}

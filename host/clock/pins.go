package clock

import (
	"sync"
	"time"
)

// Pins keep a clock in the pace Auto from jumping over the locks and leases
// of clients that reach a service over the network: a received message, a
// lease with an end. The client works in real time, and would find its lock
// gone. Off that pace, and on other clocks, pins do nothing.
//
// A pin ends with its lock or lease, or when that would have ended in real time,
// and after ten minutes at the latest: a client that is gone does not stop the
// clock for days. All methods may be called concurrently, by any goroutine.
type Pins struct {
	clk *Virtual // nil: time does not jump

	mu   sync.Mutex
	held map[string]*heldPin
}

type heldPin struct {
	unpin func()
	timer *time.Timer
	lasts time.Duration
}

const longestPin = 10 * time.Minute

// NewPins returns pins for a clock.
func NewPins(clk Clock) *Pins {
	v, _ := clk.(*Virtual)
	return &Pins{clk: v, held: map[string]*heldPin{}}
}

// Used reports whether pins have an effect on this clock; without one the caller
// need not make keys.
func (p *Pins) Used() bool { return p.clk != nil }

// Hold pins the clock under a key, for a time from now.
func (p *Pins) Hold(key string, d time.Duration) {
	if p.clk == nil {
		return
	}
	if d <= 0 {
		p.Release(key)
		return
	}
	d = min(d, longestPin)
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.held[key]; at != nil && at.timer.Stop() {
		at.lasts = d
		at.timer.Reset(d)
		return
	}
	at := &heldPin{unpin: p.clk.Pin(key), lasts: d}
	at.timer = time.AfterFunc(d, func() { p.expire(key, at) }) //clock:outside clients work in real time
	p.held[key] = at
}

// Again pins for as long as the last time, from now.
func (p *Pins) Again(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.held[key]; at != nil && at.timer.Stop() {
		at.timer.Reset(at.lasts)
	}
}

func (p *Pins) expire(key string, at *heldPin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[key] == at {
		delete(p.held, key)
	}
	at.unpin()
}

// Release ends the pin of a key, if there is one.
func (p *Pins) Release(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.held[key]; at != nil && at.timer.Stop() {
		delete(p.held, key)
		at.unpin()
	}
}

// ReleaseFunc ends the pins whose key is one of those.
func (p *Pins) ReleaseFunc(of func(key string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, at := range p.held {
		if of(key) && at.timer.Stop() {
			delete(p.held, key)
			at.unpin()
		}
	}
}

// Close ends all pins, for a server that stops earlier.
func (p *Pins) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, at := range p.held {
		if at.timer.Stop() {
			at.unpin()
			delete(p.held, key)
		}
	}
}

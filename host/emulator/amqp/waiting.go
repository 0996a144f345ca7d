package amqp

import (
	"context"
	"sync"
)

// Waiting is the wait of a [Producer]'s Pull, for Interrupt to end. The zero value
// is ready. Do is for the one goroutine that calls Pull; Interrupt for any.
type Waiting struct {
	mu          sync.Mutex
	cancel      context.CancelFunc // of the wait that goes on
	interrupted bool               // the next one is not to wait
}

// Do calls wait, which cancel makes return; not if there was an Interrupt since the
// last Do. cancel may be called during wait only.
func (w *Waiting) Do(cancel context.CancelFunc, wait func()) {
	w.mu.Lock()
	if w.interrupted {
		w.interrupted = false
		w.mu.Unlock()
		return
	}
	w.cancel = cancel
	w.mu.Unlock()
	wait()
	w.mu.Lock()
	w.cancel = nil
	w.mu.Unlock()
}

// Interrupt ends the wait, and if there is none, the next one before it begins.
func (w *Waiting) Interrupt() {
	w.mu.Lock()
	cancel := w.cancel
	w.interrupted = cancel == nil
	w.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

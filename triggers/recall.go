package triggers

import (
	"slices"
	"sync"
)

// Recall takes deliveries in work back: the deliveries of a partition, or a lease,
// that another host has now. The token of such a delivery ends too, which ends its
// retry loop, but a stop of the host ends tokens as well and leaves a running
// handler alone; after a Recall the handler's own context ends.
//
// The listener makes one for each partition and sets it in its events. The zero value
// is ready. All methods may be called concurrently.
//
// Source: spec messaging 6.2 and 7; Azure/azure-sdk-for-net
// EventHubListener.PartitionProcessor.cs.
type Recall struct {
	mu       sync.Mutex
	recalled bool
	running  []*recalled
}

type recalled struct{ end func() }

// End ends the contexts of the handlers that run, and of handlers that would
// begin.
func (r *Recall) End() {
	r.mu.Lock()
	running := r.running
	r.running, r.recalled = nil, true
	r.mu.Unlock()
	for _, h := range running {
		h.end()
	}
}

// Running is called by the Sink while a handler runs: end is called once when the
// delivery is taken back, also when it was before. The returned function says that
// the handler has ended.
func (r *Recall) Running(end func()) (ended func()) {
	h := &recalled{end}
	r.mu.Lock()
	gone := r.recalled
	if !gone {
		r.running = append(r.running, h)
	}
	r.mu.Unlock()
	if gone {
		end()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running = slices.DeleteFunc(r.running, func(o *recalled) bool { return o == h })
	}
}

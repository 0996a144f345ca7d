package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/schemas"
)

// State is the state of a host, in the platform's words (host: ScriptHostState).
type State string

// The states.
const (
	Default     State = "Default"
	Starting    State = "Starting"
	Initialized State = "Initialized"
	Running     State = "Running"
	Error       State = "Error"
	Stopping    State = "Stopping"
	Stopped     State = "Stopped"
	Offline     State = "Offline"
)

// notReadyLimit is how long a request waits for a host that is not ready (host:
// HostAvailabilityCheckMiddleware.cs).
const notReadyLimit = 30 * time.Second

// State returns the state. It may be called from anywhere.
func (h *Host) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// Errors returns what keeps the host in state Error, one text for each fault.
func (h *Host) Errors() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.errors...)
}

func (h *Host) setState(s State, errs ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state, h.errors = s, errs
	h.changed.Broadcast()
}

// fail puts a host that has nothing to run into state Error.
func (s *starter) fail(err error) {
	load, ok := errors.AsType[*LoadError](err)
	configuration := ok && slices.ContainsFunc(load.Faults, func(f *schemas.Fault) bool {
		return f.First && f.Kind == schemas.KindConfiguration
	})
	s.forChange.Store(configuration)
	s.unread.Store(errors.As(err, new(*worker.ReadError)))
	s.host.setState(Error, texts(err)...)
}

// waitsForChange reports whether the last start failed for a configuration error.
func (s *starter) waitsForChange() bool {
	return s.forChange.Load()
}

// Ready waits until the host runs an app, up to 30 s: ErrNotRunning then, and at once
// in state Error or Offline. It is for requests that want to see the app; requests
// that run a function wait by themselves.
func (h *Host) Ready(ctx context.Context) error {
	var err error
	h.clk.Inside("request", func() {
		token, release := h.token(ctx)
		defer release()
		_, err = h.ready(token)
	})
	return err
}

// AwaitRunning waits until the host runs an app, from any state; its error is ctx's.
func (h *Host) AwaitRunning(ctx context.Context) (err error) {
	h.clk.Inside("request", func() {
		token, release := h.token(ctx)
		defer release()
		h.mu.Lock()
		defer h.mu.Unlock()
		for h.state != Running && err == nil {
			err = h.changed.Wait(token)
		}
	})
	return err
}

// ready waits for a state in which requests can be served: at most 30 s, and
// not at all in state Error.
func (h *Host) ready(ctx context.Context) (*generation, error) {
	deadline := h.clk.Now().Add(notReadyLimit)
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch h.state {
		case Running:
			if gen := h.current.Load(); gen != nil {
				return gen, nil
			}
		case Error, Stopped, Offline:
			return nil, ErrNotRunning
		}
		if !h.clk.Now().Before(deadline) {
			return nil, ErrNotRunning
		}
		if err := h.changed.WaitUntil(ctx, deadline); err != nil {
			return nil, err
		}
	}
}

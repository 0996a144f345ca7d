package host

import "github.com/redeliver/redeliver/host/emulator/epoch"

// endEpoch ends the present epoch, since the state of the embedded services has been
// replaced or is about to be, and with it what the listeners of the running app
// receive. resume lets them start from the new state.
func (h *Host) endEpoch() (resume func()) {
	old := h.epoch.Load()
	h.epoch.Store(&epoch.Epoch{Number: old.Number + 1})
	old.End()
	g := h.current.Load()
	if g == nil {
		return func() {}
	}
	for _, f := range g.functions {
		if f.kind.Replaced != nil {
			f.kind.Replaced(g)
		}
	}
	over := g.listeners.Replace()
	return func() { g.listeners.StartAgain(over) }
}

// ListenerError says why the listener of a function does not run at the moment: it
// failed, and will start again. It is nil when the listener runs, and for
// functions without a listener.
func (h *Host) ListenerError(function string) error {
	if f := h.current.Load().function(function); f != nil {
		return f.listener.Failing()
	}
	return nil
}

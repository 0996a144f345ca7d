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
	over := g.endTurns()
	return func() { g.listenAgain(over) }
}

package host

import (
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/host/places"
)

// errInWork is returned by Reset and Restore while deliveries are in work.
var errInWork = errors.New("deliveries are in work")

// Reset empties the embedded services, the status of timers with them, the recorded
// outputs and the journal, lets no output fail any more, and starts the counters of IDs again. The generation and its handlers
// stay. It fails when deliveries are in work. Call it inside the clock, between
// two tests.
func (h *Host) Reset() error {
	defer h.fleet.lockLoading()()
	if h.counters.busy() {
		return fmt.Errorf("reset: %w", errInWork)
	}
	if !h.fleet.isLast(h) {
		return errors.New("reset: another host has the same services")
	}
	defer h.endEpoch()()
	for _, name := range h.embedded.Accounts() {
		if err := h.embedded.Account(name).Reset(); err != nil {
			return fmt.Errorf("storage account %q: %w", name, err)
		}
	}
	a := places.App{}
	g := h.current.Load()
	if g != nil {
		a = g.places()
	}
	if err := places.Empty(h.env, a); err != nil {
		return err
	}
	if err := h.states.restoreResidents(); err != nil {
		return err
	}
	h.journal.Reset()
	h.poisoned.clear()
	h.outputs.Clear()
	h.ids.Reset()
	return nil
}

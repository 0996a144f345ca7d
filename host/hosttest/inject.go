package hosttest

import (
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/services"
)

// Inject lets operations of the embedded services fail, from now on, for all instances:
//
//	h.Inject(faults.Fault{Service: "servicebus", Operation: "Complete", Lost: true})
//
// The test's own calls never fail. [host.Host.FailOutput] does the same for outputs.
func (h *Host) Inject(f faults.Fault) error {
	h.tb.Helper()
	return h.faults.Add(h.Host.Clock().Now(), f)
}

// Faults are those that Inject has added.
func (h *Host) Faults() *faults.List { return h.faults }

// faulty asks Options.Fault, then the faults of Inject.
func (h *Host) faulty(given func(services.FaultPoint) error) func(services.FaultPoint) error {
	return func(p services.FaultPoint) error {
		if given != nil && p.Op == services.Foresee {
			return nil // it may count polls
		}
		if given != nil {
			if err := given(p); err != nil {
				return err
			}
		}
		return h.faults.Ask(h.Host.Clock(), p)
	}
}

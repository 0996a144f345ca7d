package hosttest

import (
	"cmp"
	"context"
	"strings"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/services"
)

// Inject lets operations of the embedded services fail, from now on, for all instances:
//
//	h.Inject(faults.Fault{Service: "servicebus", Operation: "Complete", Lost: true})
//
// The test's own calls never fail. A fault that nothing has met when the test ends, or at the
// next Reset, fails the test, unless it is Optional. FailOutput does the same for outputs.
func (h *Host) Inject(f faults.Fault) error {
	h.tb.Helper()
	faultMeant(h, &f)
	return h.faults.Add(h.Host.Clock().Now(), f)
}

// faultMeant ends the test at a fault of a name that is nowhere, and near to one that is.
func faultMeant(h *Host, f *faults.Fault) {
	h.tb.Helper()
	if f.Entity == "" || strings.HasPrefix(strings.ToLower(f.Operation), "create") {
		return
	}
	switch f.Service {
	case "queue":
		queueMeant(h, f.Entity)
	case "blob":
		containerMeant(h, f.Entity)
	case "cosmos":
		database, container, _ := strings.Cut(f.Entity, "/")
		cosmosMeant(h, database, container)
	case "eventgrid":
		topic, _, _ := strings.Cut(f.Entity, "/")
		refuseSlip(h, "topic", topic, topicNames(h))
	case faults.Handler:
		f.Entity = h.mustKnow(f.Entity)
	default:
		for _, s := range h.table.Services() {
			if s.Faults.Name != f.Service || s.Entities == nil {
				continue
			}
			name := f.Entity
			if s.Within != nil {
				name = s.Within(name)
			}
			refuseSlip(h, cmp.Or(s.Scene.Kind, s.Noun), name, list(h, s.Path, func(ctx context.Context) ([]string, error) { return s.Entities(ctx, Env(h)) }))
		}
	}
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

package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/services"
)

// faults are what the scenario lets fail. A run asks them for each operation of the
// services.
type faults struct {
	mu   sync.Mutex
	list []*fault
	n    int // were taken
}

// A fault is a step that lets operations fail.
type fault struct {
	Operation  string `json:"operation"`
	Queue      string `json:"queue"`
	Container  string `json:"container"`
	ServiceBus string `json:"serviceBus"`
	EventHub   string `json:"eventHub"`
	Cosmos     string `json:"cosmos"`
	Output     string `json:"output"`
	After      bool   `json:"after"`
	Lost       bool   `json:"lost"`
	Latency    span   `json:"latency"`
	Times      int    `json:"times"`
	Error      string `json:"error"`
}

// err is what the operation fails with; nil: it only takes its time.
func (f *fault) err() error {
	switch {
	case f.Lost:
		return services.ErrNoEffect
	case f.Error != "":
		return fmt.Errorf("%s: %w", f.Error, bindings.ErrUnavailable)
	case f.Latency > 0:
		return nil
	}
	return bindings.ErrUnavailable
}

// matches reports whether a fault is for a point.
func (f *fault) matches(p services.FaultPoint) bool {
	if f.Times == 0 || f.After != p.After || !strings.EqualFold(f.Operation, p.Op) {
		return false
	}
	entity := p.Entity
	if p.Service == "blob" {
		entity, _, _ = strings.Cut(entity, "/")
	}
	for service, name := range map[string]string{"queue": f.Queue, "blob": f.Container, "servicebus": f.ServiceBus, "eventhubs": f.EventHub, "cosmos": f.Cosmos} {
		if name != "" {
			return p.Service == service && strings.EqualFold(name, entity)
		}
	}
	return true
}

// take is the fault for a point, which has it once less.
func (l *faults) take(p services.FaultPoint) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.list {
		if f.matches(p) {
			f.Times--
			l.n++
			return f
		}
	}
	return nil
}

// taken reports whether something has failed.
func (l *faults) taken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n > 0
}

// failing is Options.Fault of the host.
func (r *run) failing(p services.FaultPoint) error {
	f := r.faults.take(p)
	if f == nil {
		return nil
	}
	if f.Latency > 0 {
		_ = r.h.Clock().Sleep(context.Background(), time.Duration(f.Latency))
	}
	return f.err()
}

// fault carries out a step.
func (r *run) fault(f fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	switch {
	case f.Output != "":
		if err := r.h.FailOutput(f.Output, f.Times, f.Error); err != nil {
			r.Fatalf("%v", err)
		}
	case f.Operation == "":
		r.Fatalf("%v", errors.New("the fault names no operation and no output"))
	default:
		r.faults.mu.Lock()
		defer r.faults.mu.Unlock()
		r.faults.list = append(r.faults.list, &f)
	}
}

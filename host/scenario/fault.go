package scenario

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/services"
)

// faults are what the scenario lets fail. A run asks them for each operation of the
// storage.
type faults struct {
	mu   sync.Mutex
	list []*fault
}

// A fault is a step that lets operations fail.
type fault struct {
	Operation string `json:"operation"`
	Queue     string `json:"queue"`
	Container string `json:"container"`
	Output    string `json:"output"`
	After     bool   `json:"after"`
	Times     int    `json:"times"`
	Error     string `json:"error"`
}

func (f *fault) err() error {
	if f.Error == "" {
		return bindings.ErrUnavailable
	}
	return fmt.Errorf("%s: %w", f.Error, bindings.ErrUnavailable)
}

// storage is the StorageFault of the host.
func (l *faults) storage(p services.StorageFault) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.list {
		if f.Times == 0 || f.After != p.After || !strings.EqualFold(f.Operation, p.Op) ||
			f.Queue != "" && f.Queue != p.Queue || f.Container != "" && f.Container != p.Container {
			continue
		}
		f.Times--
		return f.err()
	}
	return nil
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

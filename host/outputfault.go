package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
)

// outputFaults are the writes of outputs that are to fail. Its methods may be called
// concurrently.
type outputFaults struct {
	mu   sync.Mutex
	byID map[string]*outputFault // by function/binding, in lower case
}

type outputFault struct {
	left int // -1: all
	text string
}

func outputID(function, binding string) string { return strings.ToLower(function + "/" + binding) }

func (o *outputFaults) set(function, binding string, times int, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]*outputFault{}
	}
	delete(o.byID, outputID(function, binding))
	if times != 0 {
		o.byID[outputID(function, binding)] = &outputFault{left: times, text: text}
	}
}

func (o *outputFaults) left(function, binding string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.byID[outputID(function, binding)]; f != nil {
		return f.left
	}
	return 0
}

// next takes the fault of one write; nil: it goes well.
func (o *outputFaults) next(function, binding string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.byID[outputID(function, binding)]
	if f == nil {
		return nil
	}
	if f.left > 0 {
		if f.left--; f.left == 0 {
			delete(o.byID, outputID(function, binding))
		}
	}
	return errors.New(f.text)
}

func (o *outputFaults) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID = nil
}

// DefaultOutputFault is the text of a fault that was given none.
const DefaultOutputFault = "the write was made to fail"

// FailOutput makes the next writes of outputs fail, in number times: -1 for all, 0 for
// none any more. name is "function", for all outputs of a function but its HTTP answer,
// or "function/binding"; they may be of any type. A failed write is a failed attempt, as
// if the service had refused it; text is its error, empty for [DefaultOutputFault]. It
// holds over a reload, until Reset or ResetState. ErrUnknownOutput: the running app has
// no such output.
func (h *Host) FailOutput(name string, times int, text string) error {
	if text == "" {
		text = DefaultOutputFault
	}
	found := false
	if g := h.current.Load(); g != nil {
		for _, f := range g.functions {
			for _, out := range f.outputs {
				if b := out.binding(); !b.Answers() && outputName(name, f.def.Name, b.Name) {
					found = true
					h.outputFaults.set(f.def.Name, b.Name, max(times, -1), text)
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("output %q: %w", name, ErrUnknownOutput)
	}
	return nil
}

// injected is the fault of the write of an output, if there is to be one.
func (d *delivery) injected(b *app.Binding) error {
	h := d.f.gen.host
	err := h.outputFaults.next(d.f.def.Name, b.Name)
	if err != nil {
		rec := d.base
		rec.Kind, rec.Attempt, rec.Name, rec.Target, rec.Error = journal.FaultInjected, d.attempts, b.Name, b.Type, err.Error()
		h.journal.Append(rec)
	}
	return err
}

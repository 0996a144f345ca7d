package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
)

// Bounds of what is kept of recorded outputs.
const (
	maxRecorded      = 1_000     // outputs, the oldest are forgotten first
	maxRecordedBytes = 16 << 20  // of their values together
	maxRecordedValue = 256 << 10 // of one value
	maxJournalValue  = 4 << 10   // of one value in the journal
)

// RecordedOutput is one value that a function set on an output which this host does not
// serve, and that went nowhere.
type RecordedOutput struct {
	Time       time.Time `json:"time"`
	Function   string    `json:"function"`
	Binding    string    `json:"binding"`
	Type       string    `json:"type"` // of the binding, as written: "sendGrid"
	Delivery   string    `json:"delivery"`
	Invocation string    `json:"invocation"`
	Attempt    int       `json:"attempt"`
	MessageID  string    `json:"messageId,omitempty"` // of the trigger

	// Body is the value as text: JSON, or what the handler set as text. Binary holds a
	// value of bytes; Body is nil then. Size is the length in bytes of the whole value, of
	// which the first 256 KiB are kept.
	Body   *string `json:"body,omitempty"`
	Binary []byte  `json:"binary,omitempty"`
	Size   int     `json:"size"`
}

// recorded holds what functions set on outputs that are not served: the latest 1,000
// values, or 16 MiB of them. Its methods may be called concurrently.
type recorded struct {
	mu    sync.Mutex
	list  []RecordedOutput
	bytes int
}

func (r *recorded) add(o RecordedOutput) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, o)
	r.bytes += o.kept()
	for len(r.list) > maxRecorded || r.bytes > maxRecordedBytes {
		r.bytes -= r.list[0].kept()
		r.list[0] = RecordedOutput{}
		r.list = r.list[1:]
	}
}

func (o *RecordedOutput) kept() int {
	if o.Body != nil {
		return len(*o.Body)
	}
	return len(o.Binary)
}

func (r *recorded) all() []RecordedOutput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

func (r *recorded) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.bytes = nil, 0
}

// recordedOutput records what a function sets on an output that is not served.
type recordedOutput struct{ b *app.Binding }

func (o recordedOutput) binding() *app.Binding { return o.b }

func (o recordedOutput) write(_ context.Context, d *delivery, v bindings.Value) error {
	h := d.f.gen.host
	value, text, err := recordedValue(v)
	if err != nil {
		return err
	}
	out := RecordedOutput{
		Time: h.clk.Now(), Function: d.f.def.Name, Binding: o.b.Name, Type: o.b.Type,
		Delivery: d.base.Delivery, Invocation: d.base.Invocation, Attempt: d.attempts, MessageID: d.base.MessageID,
		Size: len(value),
	}
	rec := d.base
	rec.Kind, rec.Attempt, rec.Name, rec.Target = journal.OutputRecorded, d.attempts, o.b.Name, o.b.Type
	rec.Fields = []journal.Field{{Key: "bytes", Value: itoa(len(value))}}
	if kept := value[:min(len(value), maxRecordedValue)]; text {
		body := strings.ToValidUTF8(string(kept), "\uFFFD")
		out.Body = &body
		// Of its own: the journal counts the memory of what it is given.
		shown := strings.Clone(strings.ToValidUTF8(body[:min(len(body), maxJournalValue)], ""))
		rec.Fields = append(rec.Fields, journal.Field{Key: "value", Value: shown})
	} else {
		out.Binary = slices.Clone(kept)
	}
	h.recorded.add(out)
	h.journal.Append(rec)
	return nil
}

// recordedValue is a value as it is recorded: JSON or text, else bytes.
func recordedValue(v bindings.Value) (value []byte, text bool, err error) {
	switch v.Kind {
	case bindings.Bytes:
		return v.Data, false, nil
	case bindings.String, bindings.JSON:
		return []byte(v.Text), true, nil
	case bindings.Int:
		return strconv.AppendInt(nil, v.Int, 10), true, nil
	case bindings.Double:
		return strconv.AppendFloat(nil, v.Double, 'g', -1, 64), true, nil
	case bindings.Strings, bindings.BytesList:
		list := []any{}
		for _, e := range v.List {
			if e.Kind == bindings.Bytes {
				list = append(list, e.Data)
			} else {
				list = append(list, e.Text)
			}
		}
		value, err = json.Marshal(list)
		return value, true, err
	}
	return nil, false, errors.New("an HTTP request or response is not a value for this output")
}

// fixedInput gives a handler the value that host.json has for an input which is not
// served.
type fixedInput struct{ b *app.Binding }

func (i fixedInput) binding() *app.Binding { return i.b }

func (i fixedInput) read(context.Context, *delivery) (bindings.Value, error) { return i.b.Fixed, nil }

// clearOutputs forgets what was recorded, and which writes are to fail.
func (h *Host) clearOutputs() {
	h.recorded.clear()
	h.outputFaults.clear()
}

// ErrUnknownOutput is returned for a name that is of no output of the running app.
var ErrUnknownOutput = errors.New("there is no such output")

// outputName reports whether a name means an output of a function: the function's
// name, for all its outputs, or "function/binding". Letter case does not count.
func outputName(name, function, binding string) bool {
	return strings.EqualFold(name, function) || strings.EqualFold(name, function+"/"+binding)
}

// OutputInfo is an output of a function, and what was recorded of it.
type OutputInfo struct {
	Function string `json:"function"`
	Binding  string `json:"binding"`
	Type     string `json:"type"`
	Recorded int    `json:"recorded"`          // values that are kept
	Failing  int    `json:"failing,omitempty"` // writes that fail next; -1: all
}

// OutputInfos lists the outputs that are recorded, of the running app and of what is kept
// from before, and those that are made to fail, by function.
func (h *Host) OutputInfos() []OutputInfo {
	var list []OutputInfo
	find := func(function, binding, typ string) *OutputInfo {
		for i := range list {
			if strings.EqualFold(list[i].Function, function) && strings.EqualFold(list[i].Binding, binding) {
				return &list[i]
			}
		}
		list = append(list, OutputInfo{Function: function, Binding: binding, Type: typ})
		return &list[len(list)-1]
	}
	if g := h.current.Load(); g != nil {
		for _, f := range g.functions {
			for _, out := range f.outputs {
				b := out.binding()
				failing := h.outputFaults.left(f.def.Name, b.Name)
				if b.Foreign || failing != 0 {
					find(f.def.Name, b.Name, b.Type).Failing = failing
				}
			}
		}
	}
	for _, o := range h.recorded.all() {
		find(o.Function, o.Binding, o.Type).Recorded++
	}
	slices.SortStableFunc(list, func(a, b OutputInfo) int {
		return strings.Compare(strings.ToLower(a.Function), strings.ToLower(b.Function))
	})
	return list
}

// RecordedOutputs returns the kept values of the outputs that name means, "function" or
// "function/binding", oldest first. ErrUnknownOutput: there is no such output, and
// nothing of it is kept.
func (h *Host) RecordedOutputs(name string) ([]RecordedOutput, error) {
	var found []RecordedOutput
	for _, o := range h.recorded.all() {
		if outputName(name, o.Function, o.Binding) {
			found = append(found, o)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, o := range h.OutputInfos() {
		if outputName(name, o.Function, o.Binding) {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("output %q: %w", name, ErrUnknownOutput)
}

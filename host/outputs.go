package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/recorded"
)

// output is an output binding of a function, ready to be written.
type output interface {
	// binding is its definition.
	binding() *app.Binding
	// write writes the value that the handler set. It is not called for a
	// binding that was not set.
	write(ctx context.Context, d *delivery, v bindings.Value) error
}

// prepareOutputs compiles the output bindings of the function.
func (f *function) prepareOutputs() error {
	if err := f.prepareInputs(); err != nil {
		return err
	}
	for _, b := range f.def.Bindings {
		if !b.Output() || b.IsTrigger() {
			continue
		}
		var out output = recordedOutput{b}
		if !b.Foreign {
			var err error
			if out, err = newKindOutput(f, b); err != nil {
				return err
			}
		}
		if b.Answers() {
			f.httpOutput = b.Name
		}
		f.outputs = append(f.outputs, out)
		f.outputNames = append(f.outputNames, b.Name)
	}
	return nil
}

// runningOutputs are the outputs of the app that runs.
func (h *Host) runningOutputs() (list []recorded.Output) {
	if g := h.current.Load(); g != nil {
		for _, f := range g.functions {
			for _, out := range f.outputs {
				list = append(list, recorded.Output{Function: f.def.Name, Binding: out.binding()})
			}
		}
	}
	return list
}

// FailOutput makes the next writes of outputs fail, see [recorded.Book]. A failed write is
// a failed attempt, as if the service had refused it. It holds over a reload, until Reset
// or ResetState.
func (h *Host) FailOutput(name string, times int, text string) error {
	return h.outputs.Fail(name, times, text)
}

// OutputInfos lists the outputs that are recorded or made to fail, see [recorded.Book].
func (h *Host) OutputInfos() []recorded.OutputInfo { return h.outputs.Infos() }

// RecordedOutputs returns what was set on outputs that are not served, see [recorded.Book].
func (h *Host) RecordedOutputs(name string) ([]recorded.RecordedOutput, error) {
	return h.outputs.Recorded(name)
}

// writeOutputs writes what the handler set, after it succeeded. The bindings of
// one function are written without atomicity: all are tried, and one failure
// fails the attempt although the others are stored (host:
// WorkerFunctionInvoker.cs BindOutputsAsync).
func (d *delivery) writeOutputs(ctx context.Context, resp *call.Response) error {
	values, err := outputValues(d.f.outputs, resp)
	if err != nil {
		return err
	}
	d.response = nil
	var errs []error
	for _, out := range d.f.outputs {
		b := out.binding()
		v := values.of(b.Name)
		if v.IsNull() {
			continue
		}
		err := d.injected(b)
		if err == nil {
			err = out.write(ctx, d, v)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("output binding %q: %w", b.Name, err))
		}
	}
	if take := d.f.kind.Result; take != nil && resp.Return != nil && d.response == nil && !(resp.Return.IsNull() && slices.Contains(d.f.outputNames, "$return")) {
		errs = append(errs, take(attempt{d}, *resp.Return))
	}
	return errors.Join(errs...)
}

// injected is the fault of the write of an output, if there is to be one.
func (d *delivery) injected(b *app.Binding) error {
	h := d.f.gen.host
	err := h.outputs.Fault(d.f.def.Name, b.Name)
	if err != nil {
		rec := d.written(b)
		rec.Kind, rec.Error = journal.FaultInjected, err.Error()
		h.journal.Append(rec)
	}
	return err
}

// written is the record of a write in the present attempt.
func (d *delivery) written(b *app.Binding) journal.Record {
	rec := d.base
	rec.Attempt, rec.Name, rec.Target = d.attempts, b.Name, b.Type
	return rec
}

// setOutputs are the values that a handler set for the output bindings of one attempt. There is
// one for each attempt of each function, mostly with a single value: it makes no map of its own.
type setOutputs struct {
	set      map[string]bindings.Value  // by name, as the handler did
	object   map[string]json.RawMessage // the members of the object that it returned
	returned *bindings.Value            // for $return, over set
}

// of is the value for the binding of that name; null: nothing is written.
func (h *setOutputs) of(name string) bindings.Value {
	if name == "$return" && h.returned != nil {
		return *h.returned
	}
	if raw, ok := h.object[name]; ok {
		if string(raw) == "null" {
			return bindings.Value{}
		}
		return bindings.JSONValue(raw)
	}
	return h.set[name]
}

// outputValues assigns what the handler returned to the bindings: outputs by
// name, the return value to $return, or, where there is no $return binding and
// the value is a JSON object, its properties to the bindings of their names. What is
// returned takes the place of an output of that name, also when it is null (host:
// WorkerFunctionInvoker.cs HandleReturnParameter, HandleOutputDictionary).
func outputValues(outputs []output, resp *call.Response) (setOutputs, error) {
	known := func(name string) bool {
		return slices.ContainsFunc(outputs, func(out output) bool { return out.binding().Name == name })
	}
	var unknown []string
	for name := range resp.Outputs {
		if !known(name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return setOutputs{}, fmt.Errorf("the handler set %q, which is not an output binding of the function", unknown)
	}
	values := setOutputs{set: resp.Outputs, returned: resp.Return}
	if known("$return") {
		if values.returned == nil {
			values.returned = &bindings.Value{}
		}
	} else if r := resp.Return; r != nil && r.Kind == bindings.JSON {
		_ = json.Unmarshal([]byte(r.Text), &values.object) // what is no object has no members
	}
	return values, nil
}

// recordedOutput records what a function sets on an output that is not served.
type recordedOutput struct{ b *app.Binding }

func (o recordedOutput) binding() *app.Binding { return o.b }

func (o recordedOutput) write(_ context.Context, d *delivery, v bindings.Value) error {
	h := d.f.gen.host
	rec, err := h.outputs.Record(h.clk.Now(), d.written(o.b), v)
	if err == nil {
		h.journal.Append(rec)
	}
	return err
}

// kindOutput is an output of a kind.
type kindOutput struct {
	b *app.Binding
	kinds.Output
}

func newKindOutput(f *function, b *app.Binding) (output, error) {
	kind, ok := served.Binding(b)
	if !ok || kind.Output == nil {
		return nil, fmt.Errorf("output binding %q: type %q is not served", b.Name, b.Type)
	}
	out, err := kind.Output(&f.view, b)
	if err != nil {
		return nil, err
	}
	return kindOutput{b, out}, nil
}

func (o kindOutput) binding() *app.Binding { return o.b }

func (o kindOutput) write(ctx context.Context, d *delivery, v bindings.Value) error {
	return o.Write(ctx, attempt{d}, v)
}

func (o kindOutput) bind(ctx context.Context, d *delivery) error {
	if b, ok := o.Output.(kinds.Binder); ok {
		return b.Bind(ctx, attempt{d})
	}
	return nil
}

// attempt is the present attempt of a delivery as bindings of a kind see it.
type attempt struct{ d *delivery }

// Record implements kinds.Attempt.
func (a attempt) Record() journal.Record {
	rec := a.d.base
	rec.Attempt = a.d.attempts
	return rec
}

// Data implements kinds.Attempt.
func (a attempt) Data() *bindings.BindingData { return a.d.bindingData() }

// Invocation implements kinds.Attempt.
func (a attempt) Invocation() string { return a.d.base.Invocation }

// Request implements kinds.Attempt.
func (a attempt) Request() *bindings.HTTPRequest { return a.d.ev.Messages[0].Value.HTTP }

// Respond implements kinds.Attempt.
func (a attempt) Respond(resp *bindings.HTTPResponse) { a.d.response = resp }

// Keep implements kinds.Attempt.
func (a attempt) Keep(b *app.Binding, v any) {
	if a.d.kept == nil {
		a.d.kept = map[*app.Binding]any{}
	}
	a.d.kept[b] = v
}

// Kept implements kinds.Attempt.
func (a attempt) Kept(b *app.Binding) any { return a.d.kept[b] }

// bindingData are the values for the binding expressions of this attempt.
func (d *delivery) bindingData() *bindings.BindingData {
	h := d.f.gen.host
	return &bindings.BindingData{
		Values: d.payload.data, Method: d.f.def.Name, Now: h.clk.Now,
		NewGUID: h.ids.GUID,
	}
}

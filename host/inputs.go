package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// input is an input binding of a function, read once in each attempt.
type input struct {
	b *app.Binding
	kinds.Input
}

// fixedInput gives a handler a value that host.json has for an input which is not served.
type fixedInput struct{ b *app.Binding }

func (i fixedInput) Read(_ context.Context, a kinds.Attempt) (bindings.Value, error) {
	return i.b.Fixed.Pick(i.b.Props, a.Data())
}

// prepareInputs compiles the input bindings of the function.
func (f *function) prepareInputs() error {
	for _, b := range f.def.Bindings {
		if b.Direction == "out" || b.IsTrigger() {
			continue
		}
		if b.Foreign {
			f.inputs = append(f.inputs, input{b, fixedInput{b}})
			continue
		}
		kind, ok := served.Binding(b)
		if !ok || kind.Input == nil {
			return fmt.Errorf("input binding %q: type %q is not served", b.Name, b.Type)
		}
		in, err := kind.Input(&f.view, b)
		if err != nil {
			return err
		}
		f.inputs = append(f.inputs, input{b, in})
	}
	return nil
}

// bind makes ready what an attempt needs before the handler runs. It takes no
// part in the function's timeout, and a stop does not cut it short.
func (d *delivery) bind() error {
	if err := d.readInputs(d.f.gen.attempts); err != nil {
		return err
	}
	return d.bindOutputs(d.f.gen.attempts)
}

// readInputs reads the handler's inputs for this attempt, the trigger's value
// first. An unreadable input fails the attempt (sdk: FunctionExecutor.cs).
func (d *delivery) readInputs(ctx context.Context) error {
	d.inputs = d.payload.inputs
	if d.ev.Messages[0].Read == nil && len(d.f.inputs) == 0 {
		return nil
	}
	d.inputs = slices.Clone(d.inputs)
	if read := d.ev.Messages[0].Read; read != nil {
		value, err := read(ctx)
		if err != nil {
			return err
		}
		d.inputs[0].Value = value
	}
	for _, in := range d.f.inputs {
		value, err := in.Read(ctx, attempt{d})
		if err != nil {
			return fmt.Errorf("input binding %q: %w", in.b.Name, err)
		}
		d.inputs = append(d.inputs, call.Input{Name: in.b.Name, Value: value})
	}
	return nil
}

// bindOutputs lets outputs do what precedes the handler.
func (d *delivery) bindOutputs(ctx context.Context) error {
	d.kept = nil
	for _, out := range d.f.outputs {
		if k, ok := out.(kindOutput); ok {
			if err := k.bind(ctx, d); err != nil {
				return fmt.Errorf("output binding %q: %w", out.binding().Name, err)
			}
		}
	}
	return nil
}

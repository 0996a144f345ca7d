package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/triggers/httptrigger"
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
		var out output
		var err error
		switch {
		case b.Foreign:
			out = recordedOutput{b}
		case b.Is("http"):
			out = httpOutput{b}
			f.httpOutput = b.Name
		case b.Is("queue"):
			out, err = newQueueOutput(f, b)
		case b.Is("blob"):
			out, err = newBlobBinding(f, b)
		case b.Is("serviceBus"):
			out, err = newServiceBusOutput(f, b)
		case b.Is("eventHub"):
			out, err = newEventHubOutput(f, b)
		case b.Is("eventGrid"):
			out, err = newEventGridOutput(f, b)
		case b.Is("cosmosDB"):
			out, err = newCosmosOutput(f, b)
		default:
			err = fmt.Errorf("output binding %q: type %q is not served", b.Name, b.Type)
		}
		if err != nil {
			return err
		}
		f.outputs = append(f.outputs, out)
		f.outputNames = append(f.outputNames, b.Name)
	}
	return nil
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
		v, ok := values[b.Name]
		if !ok || v.IsNull() {
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
	return errors.Join(errs...)
}

// outputValues assigns what the handler returned to the bindings: outputs by
// name, the return value to $return, or, where there is no $return binding and
// the value is a JSON object, its properties to the bindings of their names.
func outputValues(outputs []output, resp *call.Response) (map[string]bindings.Value, error) {
	known := map[string]bool{}
	for _, out := range outputs {
		known[out.binding().Name] = true
	}
	var unknown []string
	for name := range resp.Outputs {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return nil, fmt.Errorf("the handler set %q, which is not an output binding of the function", unknown)
	}
	values := resp.Outputs
	if resp.Return == nil || resp.Return.IsNull() {
		return values, nil
	}
	merged := make(map[string]bindings.Value, len(values)+1)
	if known["$return"] {
		merged["$return"] = *resp.Return
	} else if resp.Return.Kind == bindings.JSON {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(resp.Return.Text), &object) == nil {
			for name, raw := range object {
				if known[name] {
					merged[name] = bindings.JSONValue(raw)
				}
			}
		}
	}
	for name, v := range values {
		merged[name] = v
	}
	return merged, nil
}

// httpOutput is the answer of an HTTP-triggered function.
type httpOutput struct{ b *app.Binding }

func (o httpOutput) binding() *app.Binding { return o.b }

func (o httpOutput) write(_ context.Context, d *delivery, v bindings.Value) error {
	resp, err := httptrigger.ResponseFrom(v)
	if err != nil {
		return err
	}
	d.response = resp
	return nil
}

// queueOutput puts messages on a queue.
type queueOutput struct {
	b        *app.Binding
	account  queue.Account
	name     *bindings.Template
	encoding queue.Encoding
}

func newQueueOutput(f *function, b *app.Binding) (output, error) {
	account, err := f.account(b)
	if err != nil {
		return nil, err
	}
	name, err := bindings.ParseTemplate(b.String("queueName"))
	if err != nil {
		return nil, err
	}
	return &queueOutput{b: b, account: account, name: name, encoding: encodingOf(f.gen.app)}, nil
}

func (o *queueOutput) binding() *app.Binding { return o.b }

// write sends one message for each element of the value. A queue that does not
// exist is made (spec storage 11).
func (o *queueOutput) write(ctx context.Context, d *delivery, v bindings.Value) error {
	h := d.f.gen.host
	name, err := o.name.Resolve(d.bindingData())
	if err != nil {
		return err
	}
	if name, err = queue.Name(name); err != nil {
		return err
	}
	bodies, err := bindings.MessagesFrom(v)
	if err != nil {
		return err
	}
	q := o.account.Queue(name)
	for _, body := range bodies {
		if _, err := queue.PutOrCreate(ctx, q, o.encoding.Encode(body), nil); err != nil {
			return err
		}
		h.watcher.Notify(name)
	}
	return nil
}

// encodingOf is the encoding of the app's queue messages, checked when it was
// loaded.
func encodingOf(a *app.App) queue.Encoding {
	encoding, err := queue.ParseEncoding(a.Config.Queues.MessageEncoding)
	if err != nil {
		panic(err)
	}
	return encoding
}

// bindingData is what the binding expressions of this attempt see.
func (d *delivery) bindingData() *bindings.BindingData {
	h := d.f.gen.host
	return &bindings.BindingData{
		Values: d.payload.data, Method: d.f.def.Name, Now: h.clk.Now,
		NewGUID: func() string {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.ids.guid()
		},
	}
}

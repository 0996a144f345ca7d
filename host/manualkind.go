package host

import (
	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/warmup"
)

// A manual function runs by a call by hand only: it has no listener (host:
// ManualTriggerAttributeBindingProvider.cs).

// manualMessage is the caller's input, with the binding data that it gives.
func manualMessage(_ *Host, f *function, input string) (triggers.Message, error) {
	m := triggers.Message{Value: bindings.StringValue(input), Metadata: map[string]any{}}
	if f.def.Trigger.DataType == "binary" {
		m.Value = bindings.BytesValue([]byte(input))
	}
	bindings.ApplyJSON(m.Metadata, []byte(input))
	return m, nil
}

func manualEnd(*app.App, *app.Function) string { return "the error to the caller" }

// A warm-up function runs when an instance is added on the platform, which is here when
// the host starts; not again at a reload or a restart of the same host.

func listenWarmup(t *turn) (triggers.Listener, error) {
	due := t.gen.id == 1 && !t.again && warmup.Runs(t.def.Name)
	return warmup.New(t.gen.host.clk, due), nil
}

func warmupMessage(*Host, *function, string) (triggers.Message, error) { return warmup.Message(), nil }

func warmupEnd(*app.App, *app.Function) string { return "without it: the app runs on" }

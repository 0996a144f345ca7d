package served

import (
	"context"
	"time"

	values "github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/kinds"
	listeners "github.com/redeliver/redeliver/triggers"
)

// The line that adds a kind.
func init() { triggers = append(triggers, toyKind) }

// toyKind is the package of a kind: a bell that rings every minute.
func toyKind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{Type: "toyTrigger", End: func(*app.App, *app.Function) string { return "next ring" }},
		Listen: func(t *kinds.Turn) (listeners.Listener, error) {
			return bell{t.Clock, t.Def.Trigger.String("tone")}, nil
		},
		Message: func(_ *kinds.Function, input string) (listeners.Message, error) {
			return listeners.Message{Value: values.StringValue(input)}, nil
		},
	}
}

type bell struct {
	clk  clock.Clock
	tone string
}

func (b bell) Run(ctx context.Context, sink listeners.Sink) error {
	for b.clk.Idle(ctx, time.Minute) == nil {
		if _, err := sink.Gate().Admit(ctx, 1); err != nil {
			break
		}
		ev := &listeners.Event{Source: "bell", Messages: []listeners.Message{{Value: values.StringValue(b.tone)}}}
		sink.Handle(ctx, ev)
		sink.Settled(ev, listeners.Settlement{Decision: listeners.Recorded})
	}
	return nil
}

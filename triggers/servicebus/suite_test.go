package servicebus_test

import (
	"context"
	"testing"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	broker "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/triggers/servicebus"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestListener(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*servicebus.Options{
		"plain":          nil,
		"batch":          {Batch: true, MaxMessageBatchSize: 1},
		"sessions":       {Sessions: true, MaxConcurrentCallsPerSession: 16},
		"session batch":  {Sessions: true, Batch: true, MaxMessageBatchSize: 1},
		"one at a time":  {MaxConcurrentCalls: 1},
		"one in session": {Sessions: true, MaxConcurrentSessions: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triggertest.RunListener(t, func(t *testing.T, clk *clock.Virtual) *triggertest.Source {
				var lost error
				ns := broker.New(clk, &broker.Options{Fault: func(p broker.FaultPoint) error {
					if p.Op == "Send" {
						return nil
					}
					return lost
				}})
				s := &triggertest.Source{Listener: servicebus.New(clk, ns, "orders", opts), Lose: func(err error) { lost = err }}
				var message servicebusapi.Message
				if opts != nil && opts.Sessions {
					message.SessionID = new(string)
				}
				s.OneAtATime = opts != nil && (opts.Batch || opts.MaxConcurrentCalls == 1 || opts.MaxConcurrentSessions == 1)
				clk.Do("create", func() {
					if _, err := ns.CreateQueue(context.Background(), servicebusapi.Queue{Name: "orders", RequiresSession: message.SessionID != nil}); err != nil {
						t.Fatal(err)
					}
				})
				s.Deliver = func(n int) {
					clk.Do("send", func() {
						for range n {
							m := message
							if err := ns.Send(context.Background(), "orders", &m); err != nil {
								t.Error(err)
							}
						}
					})
				}
				return s
			})
		})
	}
}

package servicebus_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func newVirtual() *clock.Virtual {
	return clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
}

var features = bindingtest.ServiceBusFeatures{
	CreatedNames: true, IdleReceivers: true, SessionsEnd: true, Release: true, SessionlessToDLQ: true, TransferDLQ: true, ExactCounts: true, SmallEntities: true, LargeHeaderToDLQ: true,
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunServiceBus(t, func(*testing.T) *bindingtest.ServiceBusBackend {
			clk := newVirtual()
			return &bindingtest.ServiceBusBackend{
				Namespace: servicebus.New(clk, nil),
				Features:  features,
				Do:        func(f func()) { clk.Do("test", f) },
				Now:       clk.Now,
				Advance:   clk.Advance,
			}
		})
	})
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunServiceBus(t, func(*testing.T) *bindingtest.ServiceBusBackend {
			return &bindingtest.ServiceBusBackend{Namespace: servicebus.New(clock.System(), nil), Features: features}
		})
	})
}

package host

import (
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/durabletask"
)

// Durable is the HTTP management API of Durable Functions, for who serves it.
func (h *Host) Durable() *durabletask.API { return h.env.Durable }

// openDurable makes the API. It is served nowhere, and costs nothing, until a function is given
// its addresses.
func openDurable(h *Host) *durabletask.API {
	return durabletask.New(&durabletask.Options{Clock: h.clk, Hub: taskHub(h), Token: h.token, Logger: h.log})
}

// taskHub finds the task hubs of a host by their names.
func taskHub(*Host) func(name string) durable.Hub {
	return func(string) durable.Hub { return nil }
}

package invokertest_test

import (
	"testing"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/invokertest"
)

// Handlers in the host's own process pass the suite of handlers in another process.
func TestInProcess(t *testing.T) {
	invokertest.Run(t, invokertest.Harness{
		New: func(_ *testing.T, clk clock.Clock) invokertest.Invoker {
			return host.InProcess(clk, invokertest.App())
		},
	})
}

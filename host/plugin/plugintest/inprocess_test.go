package plugintest_test

import (
	"testing"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/plugin/plugintest"
)

// Handlers in the host's own process pass the suite of handlers in another
// process.
func TestInProcess(t *testing.T) {
	plugintest.RunInvoker(t, plugintest.Harness{
		New: func(_ *testing.T, clk clock.Clock) plugintest.Invoker {
			return host.InProcess(clk, plugintest.App())
		},
	})
}

package azure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gridScript runs a script against a server whose certificate is in the file that the
// variable trust names, and looks at what the functions got: events with the IDs that
// the script chose, which begin with prefix, and others with IDs of the package's.
func gridScript(t *testing.T, run func(t *testing.T, file string, args ...string), file, trust, prefix string, others int) {
	t.Helper()
	d := openGridServer(t)
	t.Setenv(trust, d.trust)
	run(t, file, d.https, d.http, gridKey, d.control(t))
	d.host.Advance(0)
	orders, clouds := d.received()
	var chosen []string
	for _, id := range slices.Concat(orders, clouds) {
		if strings.HasPrefix(id, prefix) {
			chosen = append(chosen, id)
		} else {
			others--
		}
	}
	slices.Sort(chosen)
	var want []string
	for _, name := range []string{"1", "2", "3", "bytes", "none", "object", "single", "text"} {
		want = append(want, prefix+name)
	}
	if diff := cmp.Diff(want, chosen); diff != "" {
		t.Errorf("the functions got (-want +got):\n%s", diff)
	}
	if others != 0 {
		t.Errorf("%d other events are missing", others)
	}
}

// TestJavaScriptEventGridSDK makes the calls of the samples of @azure/eventgrid over
// HTTPS, as publisher and as the web hook.
func TestJavaScriptEventGridSDK(t *testing.T) {
	requireInterop(t, "node", "node_modules/@azure/eventgrid")
	gridScript(t, javaScript, "eventgrid.cjs", "NODE_EXTRA_CA_CERTS", "js-", 4)
}

// TestPythonEventGridSDK makes the calls of the samples of azure-eventgrid, likewise.
func TestPythonEventGridSDK(t *testing.T) {
	gridScript(t, pythonScript, "eventgrid.py", "REQUESTS_CA_BUNDLE", "py-", 5)
}

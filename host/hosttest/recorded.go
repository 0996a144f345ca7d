package hosttest

import (
	"slices"

	"github.com/redeliver/redeliver/host/recorded"
)

// Outputs returns what functions have set on outputs that this host does not serve
// (sendGrid, sql, table, ...), oldest first. name is "function", or "function/binding"
// for one of its outputs. An output that there is not ends the test.
//
// FailOutput makes the next writes of such an output, or of any other, fail:
//
//	h.FailOutput("Notify/mail", 2, "")
func (h *Host) Outputs(name string) []recorded.RecordedOutput {
	h.tb.Helper()
	of, own := outputOf(h, name)
	found, err := of.RecordedOutputs(own)
	if err != nil {
		h.tb.Fatalf("hosttest: %v%s", err, orMeant(name, outputNames(h)))
	}
	return found
}

// WantOutput fails the test unless exactly these values were set on an output that
// is not served, in this order; see Outputs. Values that are not text count with
// their bytes.
func (h *Host) WantOutput(name string, want ...string) {
	h.tb.Helper()
	got := []string{}
	for _, o := range h.Outputs(name) {
		if o.Body != nil {
			got = append(got, *o.Body)
		} else {
			got = append(got, string(o.Binary))
		}
	}
	if !slices.Equal(got, want) {
		h.tb.Errorf("output %q was set to %q, want %q", name, got, want)
	}
}

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
func (k journalCalls) Outputs(name string) []recorded.RecordedOutput {
	k.h.tb.Helper()
	of, own := outputOf(k.h, name)
	found, err := of.RecordedOutputs(own)
	if err != nil {
		k.h.tb.Fatalf("hosttest: %v%s", err, orMeant(name, outputNames(k.h)))
	}
	return found
}

// WantOutput fails the test unless exactly these values were set on an output that
// is not served, in this order; see Outputs. Values that are not text count with
// their bytes.
func (k journalCalls) WantOutput(name string, want ...string) {
	k.h.tb.Helper()
	got := []string{}
	for _, o := range k.h.Outputs(name) {
		if o.Body != nil {
			got = append(got, *o.Body)
		} else {
			got = append(got, string(o.Binary))
		}
	}
	if !slices.Equal(got, want) {
		k.h.tb.Errorf("output %q was set to %q, want %q", name, got, want)
	}
}

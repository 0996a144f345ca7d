package trace_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/trace"
)

// FuzzParse: no trace context panics, and what is read is written and read as the same.
func FuzzParse(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("|4bf92f3577b34da6.00f067aa.")
	f.Fuzz(func(t *testing.T, text string) {
		p := trace.Parse(text)
		if again := trace.Parse(p.String()); again.String() != p.String() {
			t.Errorf("%q is %q, and then %q", text, p, again)
		}
	})
}

package process

import (
	"testing"

	"github.com/redeliver/redeliver/functions/call"
)

// The level of a line of standard error follows from its words, "warn" first (spec workers
// 8, WorkerProcess.cs).
func TestLevelsOfStandardError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]call.Level{
		"listening":                            call.Information,
		"Warning: old version":                 call.Warning,
		"DeprecationWarning: this will FAIL":   call.Warning,
		"an Error occurred":                    call.ErrorLevel,
		"2 tests failed":                       call.ErrorLevel,
		"SEVERE: no memory":                    call.ErrorLevel,
		"Unhandled Exception. System.Boom":     call.ErrorLevel,
		"panic: warned before":                 call.ErrorLevel,
		`{"@level":"warn","@message":"error"}`: call.Warning,
	} {
		if got, _ := classify(text); got != want {
			t.Errorf("%q has level %v, want %v", text, got, want)
		}
	}
}

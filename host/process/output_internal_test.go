package process

import (
	"strings"
	"testing"
	"unicode/utf8"

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

// The last lines of a program are whole characters, whatever their length.
func TestKeptText(t *testing.T) {
	t.Parallel()
	for before := range 4 {
		o := &output{}
		s := &splitter{out: o, stderr: true}
		_, _ = s.Write([]byte(strings.Repeat("x", before) + strings.Repeat("\U0001F600", 2000) + "\n"))
		last, _ := o.tail()
		if len(last) != 1 || !utf8.ValidString(last[0]) || len(last[0]) > keptText || len(last[0]) <= keptText-utf8.UTFMax {
			t.Errorf("kept %d bytes, whole: %v", len(last[0]), utf8.ValidString(last[0]))
		}
	}
}

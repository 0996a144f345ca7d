package worker

import (
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
)

// ConsoleLine is what a line of a worker's standard output or standard error says to
// the user. Drop: nothing, since it is meant for tools, or the worker talks of itself
// without a warning (spec workers 8).
func ConsoleLine(l process.Line) (line process.Line, drop bool) {
	if strings.HasPrefix(l.Text, "azfuncjsonlog:") {
		return l, true
	}
	text, own := strings.CutPrefix(l.Text, "LanguageWorkerConsoleLog")
	l.Text = text
	return l, own && l.Level < call.Warning
}

package launch

import (
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/process"
)

// ExitRecord says how a handler process ended.
func ExitRecord(name string, x process.Exit) journal.Record {
	rec := journal.Record{
		Kind: journal.ProcessExited, Name: name, Cause: x.Reason,
		Beside: journal.Beside{PID: x.Process.PID, Detail: strings.Join(x.Output, "\n")},
	}
	if !x.Planned {
		rec.Status = x.Status // of a planned end it depends on who was faster
	}
	if x.Restart >= 0 {
		rec.Delay, rec.HasDelay = x.Restart, true
	}
	if x.Err != nil {
		rec.Error = x.Err.Error()
	}
	return rec
}

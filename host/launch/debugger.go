package launch

import (
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// ToldWaiting has what a worker says before it is ready told at once, if it waits for a
// debugger: it names its process, and nothing else comes before somebody attaches to that.
func ToldWaiting(ps process.Spec, log zerolog.Logger) process.Spec {
	if !worker.Waits(ps.Env) {
		return ps
	}
	var ready atomic.Bool
	output, start := ps.Output, ps.OnStart
	ps.Output = func(line process.Line) {
		if !ready.Load() {
			log.Warn().Msg(line.Text)
		}
		output(line)
	}
	ps.OnStart = func(p process.Process) {
		ready.Store(true)
		start(p)
	}
	return ps
}

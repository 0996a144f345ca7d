package launch

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/retrycontext"
)

// CountVariable names the setting that says how many processes a worker has.
const CountVariable = "FUNCTIONS_WORKER_PROCESS_COUNT"

// Processes says how many processes a worker has, and how they are started (spec workers
// 3.3).
type Processes struct {
	Count int
	// StartInterval and RestartInterval are those of process.Spec.
	StartInterval, RestartInterval time.Duration
	// StartTimeout and InitTimeout are those of Spec; zero is its default.
	StartTimeout, InitTimeout time.Duration
}

// Set has a worker kept running by p.
func (p Processes) Set(spec *process.Spec) {
	spec.Count, spec.StartInterval, spec.RestartInterval = p.Count, p.StartInterval, p.RestartInterval
	if p.StartTimeout > 0 {
		spec.StartTimeout = p.StartTimeout
	}
}

// processOptions are the limits that a worker's description comes with.
type processOptions struct {
	ProcessCount                      int
	SetProcessCountToNumberOfCPUCores bool
	MaxProcessCount                   int
	ProcessStartupInterval            *span
	ProcessRestartInterval            *span
	ProcessStartupTimeout             span
	InitializationTimeout             span
}

// span is a time span as .NET writes it, "00:00:10".
type span time.Duration

func (s *span) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	d, err := retrycontext.ParseTimeSpan(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	*s = span(d)
	return err
}

// processes reads how many processes the worker of an app has. The setting wins; one that
// is open for a debugger has one, since its port is taken by one process.
func (s *Search) processes(o processOptions) (Processes, error) {
	or := func(s *span) time.Duration {
		if s == nil {
			return 10 * time.Second
		}
		return time.Duration(*s)
	}
	p := Processes{
		Count: max(o.ProcessCount, 1), StartInterval: or(o.ProcessStartupInterval), RestartInterval: or(o.ProcessRestartInterval),
		StartTimeout: time.Duration(o.ProcessStartupTimeout), InitTimeout: time.Duration(o.InitializationTimeout),
	}
	most := o.MaxProcessCount
	if most < 1 {
		most = 10
	}
	if o.SetProcessCountToNumberOfCPUCores {
		p.Count = runtime.NumCPU()
		most = max(most, p.Count)
	}
	if set := s.Setting(CountVariable); set != "" {
		n, err := strconv.Atoi(strings.TrimSpace(set))
		if err != nil || n > most {
			return Processes{}, s.notFound(fmt.Sprintf("%s is %q, which is no number from 1 to %d", CountVariable, set, most),
				fmt.Sprintf("set it to a number from 1 to %d, or remove it", most))
		}
		p.Count = max(n, 1)
	}
	if p.Count > most {
		return Processes{}, s.notFound(fmt.Sprintf("processCount in %s is %d, more than maxProcessCount, %d", configFile, p.Count, most),
			"set "+CountVariable+" to a smaller number")
	}
	if worker.Debugs(strings.Fields(s.Setting("languageWorkers:"+s.Language+":arguments"))) || strings.EqualFold(s.Setting(worker.DebuggerWait), "true") {
		p.Count = 1
	}
	return p, nil
}

package functions

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// TimerInfo is the trigger value of a timer function, the same for all attempts of
// one tick.
type TimerInfo struct {
	// IsPastDue is set when the tick makes up for a tick that was missed while the
	// host was down.
	IsPastDue bool
	// Schedule describes the schedule.
	Schedule TimerSchedule
	// ScheduleStatus is nil when the schedule is not monitored.
	ScheduleStatus *ScheduleStatus
}

// TimerSchedule describes a schedule.
type TimerSchedule struct {
	// AdjustForDST is set for schedules that follow the clock on the wall rather
	// than a constant interval.
	AdjustForDST bool
}

// ScheduleStatus is the record of the schedule monitor.
type ScheduleStatus struct {
	Last        time.Time // the last tick; zero before the first
	Next        time.Time // the tick that was due next, as of the last
	LastUpdated time.Time
}

// UnmarshalJSON tolerates times without an offset, such as the platform's date
// for "never".
func (s *ScheduleStatus) UnmarshalJSON(b []byte) error {
	var raw struct{ Last, Next, LastUpdated string }
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*s = ScheduleStatus{Last: parseTime(raw.Last), Next: parseTime(raw.Next), LastUpdated: parseTime(raw.LastUpdated)}
	return nil
}

func newTimerInfo(r *call.Request) (TimerInfo, error) {
	var t TimerInfo
	in := triggerInput(r)
	if in.Value.Kind == bindings.Null {
		return t, nil
	}
	if err := json.Unmarshal(in.Bytes(), &t); err != nil {
		return t, fmt.Errorf("timer info: %w", err)
	}
	return t, nil
}

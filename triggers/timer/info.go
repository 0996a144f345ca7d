package timer

import (
	"encoding/json"

	"github.com/redeliver/redeliver/bindings"
)

// Info returns what the trigger parameter of a timer function receives: one JSON
// object
//
//	{"Schedule":{"AdjustForDST":true},
//	 "ScheduleStatus":{"Last":…,"Next":…,"LastUpdated":…},
//	 "IsPastDue":false}
//
// in which ScheduleStatus is null for a nil status, that is for a timer without a
// monitor. A call through the admin API gets the stored status. Node's library
// changes the names to camel case by itself.
func Info(s Schedule, status *Status, pastDue bool) bindings.Value {
	type schedule struct{ AdjustForDST bool }
	raw, err := json.Marshal(struct {
		Schedule       schedule
		ScheduleStatus *Status
		IsPastDue      bool
	}{schedule{s.AdjustForDST()}, status, pastDue})
	if err != nil {
		panic("timer: a timer info has no values that JSON cannot write: " + err.Error())
	}
	return bindings.JSONValue(raw)
}

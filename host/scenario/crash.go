package scenario

import (
	"encoding/json"
	"errors"

	"github.com/redeliver/redeliver/host/hosttest"
)

// A crash ends the host: now, or at a point of a delivery of a function.
type crash struct {
	Function string         `json:"function"`
	Point    hosttest.Point `json:"point"`
	Nth      int            `json:"nth"`
}

func (c *crash) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true":
		return nil
	case "false":
		return errors.New(`crash is true, or an object with "function" and "point"`)
	}
	type plain crash
	return json.Unmarshal(raw, (*plain)(c))
}

func (r *run) crash(c *crash) {
	if c.Function == "" {
		r.h.Kill()
		return
	}
	r.h.KillAt(c.Function, c.Point, c.Nth)
	r.crashes = true
}

// crashed moves time to the crash that is to come, if there is one.
func (r *run) crashed() {
	if r.crashes {
		r.crashes = false
		r.h.AwaitKilled()
	}
}

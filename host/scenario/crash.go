package scenario

import (
	"encoding/json"
	"errors"

	"github.com/redeliver/redeliver/host/hosttest"
)

// A crash ends an instance: now, or at a point of a delivery of a function.
type crash struct {
	Instance int            `json:"instance"`
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
	h := r.instance(c.Instance)
	switch {
	case c.Point == "" && c.Function == "":
		h.Kill()
	case c.Point == "" || c.Function == "":
		r.Fatalf("the crash at a point of a delivery needs both, function and point")
	default:
		h.KillAt(c.Function, c.Point, c.Nth)
		r.crashes = h
	}
}

// crashed moves time to the crash that is to come, if there is one.
func (r *run) crashed() {
	if h := r.crashes; h != nil {
		r.crashes = nil
		h.AwaitKilled()
	}
}

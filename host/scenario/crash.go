package scenario

import (
	"encoding/json"
	"errors"
	"slices"

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
	case c.Point == "" && c.Function == "" && c.Nth != 0:
		r.Fatalf("nth counts how often deliveries come to a point: it needs function and point")
	case (c.Point == "") != (c.Function == ""):
		r.Fatalf("the crash at a point of a delivery needs both, function and point")
	}
	switch {
	case c.Point == "":
		r.fell = true
		if len(r.cast) > 1 {
			r.cast.end()
			return
		}
		h.Kill()
	default:
		r.mustKnow("crash.function", aFunction, c.Function)
		if p, _ := r.cast.function(c.Function); p != nil && len(r.cast) > 1 {
			h = p.h
		}
		for _, w := range r.crashes {
			if w.host == h {
				r.Fatalf("the crash of %s is still to come, and an instance crashes once: start it again before", w.at)
			}
		}
		r.fell = true
		h.KillAt(c.Function, c.Point, c.Nth)
		r.crashes = append(r.crashes, waitingCrash{r.at, h})
	}
}

// waitingCrash is a crash that is to come, and its step.
type waitingCrash struct {
	at   string
	host *hosttest.Host
}

// crashed moves time to each crash that is to come.
func (r *run) crashed() {
	at := r.at
	for _, w := range r.crashes {
		r.at = w.at // a crash that does not come is the failure of its step
		w.host.AwaitKilled()
		r.cast.died(w.host)
	}
	r.crashes, r.at = nil, at
}

// start begins every instance that has crashed, or will; restart stops what runs before.
func (r *run) start(restart bool) {
	if !restart && !r.fell && !r.h.Killed() {
		r.Fatalf("start is for a host that has crashed, or will, and no crash was asked for: restart stops it before")
	}
	r.fell = false
	r.crashed()
	if len(r.cast) > 1 {
		r.cast.begin(restart)
		return
	}
	dead := slices.DeleteFunc(r.instances(), func(h *hosttest.Host) bool { return !h.Killed() })
	if len(dead) == 0 {
		dead = r.instances()[:1]
	}
	for _, h := range dead {
		h.StartAgain()
	}
}

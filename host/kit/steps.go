package kit

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/host/ops"
)

// Done is the answer of a step: where the journal ends.
type Done struct {
	Seq uint64 `json:"seq"`
}

func (h *Host) done() Done { return Done{h.session.Host().Journal().Len()} }

// stepped does a step of a scenario on a host that runs.
func (h *Host) stepped(ctx context.Context, step map[string]any) (out Done, err error) {
	err = h.running(ctx, func() error {
		if err := h.do(step); err != nil {
			return err
		}
		out = h.done()
		return nil
	})
	return out, err
}

// Crash ends the host as a power cut does: at once, or with a function at a point of its nth
// delivery that comes there from now on, restarts included.
type Crash struct {
	ops.Op[Done] `route:"POST /hosts/{id}/crash" body:"json"`

	ID       string  `path:"id" json:"-"`
	Function *string `json:"function,omitempty"`
	Point    *string `json:"point,omitempty"` // afterReceive, beforeHandler, afterHandler, betweenAttempts, beforeSettle, afterCheckpoint, afterSettle
	Nth      *int    `json:"nth,omitempty"`   // from 1; 1 unless it is there
	Instance *int    `json:"instance,omitempty"`
}

// Do implements the operation.
func (in Crash) Do(ctx context.Context, h *Host) (Done, error) {
	fields := map[string]any{}
	for name, value := range map[string]*string{"function": in.Function, "point": in.Point} {
		if value != nil && *value == "" {
			return Done{}, refuse(http.StatusBadRequest, BadRequest, "%s is empty: leave function and point out for a crash now", name)
		}
		if value != nil {
			fields[name] = *value
		}
	}
	for name, value := range map[string]*int{"nth": in.Nth, "instance": in.Instance} {
		if value != nil {
			fields[name] = *value
		}
	}
	if len(fields) == 0 {
		return h.stepped(ctx, map[string]any{"crash": true})
	}
	return h.stepped(ctx, map[string]any{"crash": fields})
}

// StartAgain starts a host that has crashed, on the data that it has left. A crash at a point
// that is still to come is waited for before: time moves until it has come.
type StartAgain struct {
	ops.Op[Done] `route:"POST /hosts/{id}/start"`

	ID string `path:"id"`
}

// Do implements the operation.
func (in StartAgain) Do(ctx context.Context, h *Host) (Done, error) {
	return h.restarted(ctx, map[string]any{"start": true})
}

// Restart stops the host as Ctrl+C does and starts it again on its data.
type Restart struct {
	ops.Op[Done] `route:"POST /hosts/{id}/restart"`

	ID string `path:"id"`
}

// Do implements the operation.
func (in Restart) Do(ctx context.Context, h *Host) (Done, error) {
	return h.restarted(ctx, map[string]any{"restart": true})
}

// restarted does a step after which the journal begins anew.
func (h *Host) restarted(ctx context.Context, step map[string]any) (out Done, err error) {
	err = h.alone(ctx, func() error {
		if err := h.do(step); err != nil {
			return err
		}
		h.touched.Store(true)
		h.last, out = 0, h.done()
		return nil
	})
	return out, err
}

// ScaleOut starts another instance of a host that was started with instances.
type ScaleOut struct {
	ops.Op[Done] `route:"POST /hosts/{id}/instances"`

	ID string `path:"id"`
}

// Do implements the operation.
func (in ScaleOut) Do(ctx context.Context, h *Host) (Done, error) {
	return h.stepped(ctx, map[string]any{"scaleOut": true})
}

// ScaleIn stops an instance, as the platform does.
type ScaleIn struct {
	ops.Op[Done] `route:"DELETE /hosts/{id}/instances/{number}"`

	ID     string `path:"id"`
	Number int    `path:"number"`
}

// Do implements the operation.
func (in ScaleIn) Do(ctx context.Context, h *Host) (Done, error) {
	return h.stepped(ctx, map[string]any{"scaleIn": in.Number})
}

// ExpireLocks ends the locks of an entity of Service Bus, as if their time were over.
type ExpireLocks struct {
	ops.Op[Done] `route:"POST /hosts/{id}/expire-locks" body:"json"`

	ID     string `path:"id" json:"-"`
	Entity string `json:"entity"`
}

// Do implements the operation.
func (in ExpireLocks) Do(ctx context.Context, h *Host) (Done, error) {
	if in.Entity == "" {
		return Done{}, refuse(http.StatusBadRequest, BadRequest, "entity is missing: want a queue or a subscription of Service Bus")
	}
	return h.stepped(ctx, map[string]any{"expireLocks": in.Entity})
}

// Edit writes files of the app, as an editor does, and reloads it. Of a host with a folder of
// an app it is refused: the folder is the author's.
type Edit struct {
	ops.Op[Done] `route:"POST /hosts/{id}/edit" body:"json"`

	ID    string            `path:"id" json:"-"`
	Files map[string]string `json:"files"` // by path below the app's folder
}

// Do implements the operation.
func (in Edit) Do(ctx context.Context, h *Host) (Done, error) {
	return h.stepped(ctx, map[string]any{"edit": in.Files})
}

// Step does one step of a scenario, such as {"send": {"queue": "orders", "body": {"id": 7}}}:
// all that a scenario's "when" can have.
type Step struct {
	ops.Op[Done] `route:"POST /hosts/{id}/step" body:"json"`

	ID   string         `path:"id" json:"-"`
	Step map[string]any `json:"step"`
}

// Do implements the operation.
func (in Step) Do(ctx context.Context, h *Host) (Done, error) {
	if in.Step["start"] != nil || in.Step["restart"] != nil {
		return h.restarted(ctx, in.Step)
	}
	return h.stepped(ctx, in.Step)
}

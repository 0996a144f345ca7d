package durable

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
)

// checkID refuses ids that nobody may choose (spec durable 5.1).
//
// Source: ext ContextImplementations/DurableClient.cs.
func checkID(id string) error {
	text := ""
	switch {
	case strings.HasPrefix(id, "@"):
		text = "Orchestration instance ids must not start with @."
	case strings.ContainsAny(id, `/\#?`) || strings.ContainsFunc(id, unicode.IsControl):
		text = "Orchestration instance ids must not contain /, \\, #, ?, or control characters."
	case len(utf16.Encode([]rune(id))) > durable.MaxInstanceID:
		text = "Instance ID lengths must not exceed 256 characters."
	default:
		return nil
	}
	return &durable.Error{Code: durable.CodeBadID, Text: text}
}

// Start implements durable.Starter.
func (h *Hub) Start(ctx context.Context, s durable.Start) (id string, err error) {
	if err := checkID(s.ID); err != nil {
		return "", err
	}
	err = h.operate(ctx, FaultPoint{Op: "Start", Function: s.Name, Instance: s.ID}, func(op *operation) error {
		return op.start(h, &s)
	})
	return s.ID, err
}

// start makes an instance; s gets its id.
func (op *operation) start(h *Hub, s *durable.Start) error {
	if s.ID == "" {
		s.ID = op.e.newID()
	}
	old := op.e.get(h.key(), s.ID)
	if old != nil && !old.Status.Finished() && !op.e.desk(h.key()).of(durable.Function{Name: strings.ToLower(s.Name)}).AnyState {
		return inUse(old)
	}
	if s.Input != nil && *s.Input == "" {
		s.Input = nil
	}
	op.create(op.e.hubOf(h.name), *s, nil)
	return nil
}

// Restart implements durable.Starter.
func (h *Hub) Restart(ctx context.Context, id, newID, by string) (string, error) {
	if err := checkID(newID); err != nil {
		return "", err
	}
	s := durable.Start{ID: newID, By: "restart"}
	if newID == "" {
		s.ID = id
	}
	err := h.operate(ctx, FaultPoint{Op: "Restart", Instance: id}, func(op *operation) error {
		old := op.e.get(h.key(), id)
		if old == nil || old.entity {
			return notFound("InstanceId does not match a valid orchestration instance.")
		}
		if there := op.e.get(h.key(), s.ID); there != nil && !there.Status.Finished() {
			return &durable.Error{Code: durable.CodeInUse, Status: there.Status, Text: "A non-terminal instance with this instance ID already exists."}
		}
		s.Name, s.Version, s.Input = old.Name, old.Version, old.Input
		op.recordControl(old, "restart", by, "")
		return op.start(h, &s)
	})
	return s.ID, err
}

// RaiseEvent implements durable.Controller.
func (h *Hub) RaiseEvent(ctx context.Context, id, name, data, by string) error {
	return h.operate(ctx, FaultPoint{Op: "RaiseEvent", Instance: id}, func(op *operation) error {
		inst := op.e.get(h.key(), id)
		switch {
		case inst == nil || inst.entity:
			return noInstance(id)
		case inst.Status.Finished():
			return finished(inst)
		}
		e := durable.Event{Type: durable.EventRaised, ID: -1, Name: name}
		if data != "" {
			e.Input = &data
		}
		op.know(inst)
		op.recordRaised(inst, name, by)
		op.send(inst, "", e)
		return nil
	})
}

// AwaitEnd implements durable.Reader.
func (h *Hub) AwaitEnd(ctx context.Context, id string, until time.Time) (*durable.Instance, error) {
	var out *durable.Instance
	err := h.watch(ctx, id, until, false, func(inst *instance) { out = inst.view(durable.Read{}) })
	return out, err
}

// Await implements durable.Reader.
func (h *Hub) Await(ctx context.Context, id string, end bool) (out *durable.Instance, err error) {
	defer clock.Excuse(h.e.clk)()
	for out == nil && err == nil {
		err = h.epoch.During(func() error {
			op, err := h.e.begin()
			if err == nil {
				inst := h.e.get(h.key(), id)
				if inst != nil && (inst.Status.Finished() || !end && inst.Status != durable.Pending) {
					out = inst.view(durable.Read{})
				} else {
					err = h.e.ended.Wait(ctx)
				}
			}
			if finishErr := op.finish(ctx); err == nil {
				err = finishErr
			}
			return err
		})
	}
	return out, err
}

// AllowPoll implements durable.Reader.
func (h *Hub) AllowPoll(ctx context.Context, id string, d time.Duration) error {
	if v, ok := h.e.clk.(*clock.Virtual); !ok || v.Pace() == clock.Real || v.Pace() == clock.Debug {
		return nil // time goes on by itself
	}
	defer clock.Excuse(h.e.clk)()
	err := h.watch(ctx, id, h.e.now().Add(d), false, func(*instance) {})
	if durable.Is(err, durable.CodeNotFound) {
		return nil
	}
	return err
}

// watch waits until an instance ends, or until a time, and shows it.
func (h *Hub) watch(ctx context.Context, id string, until time.Time, idle bool, show func(*instance)) error {
	for {
		var over bool
		err := h.epoch.During(func() error {
			op, err := h.e.begin()
			if err == nil {
				inst := h.e.get(h.key(), id)
				switch {
				case inst == nil:
					err, over = noInstance(id), true
				case inst.Status.Finished() || !h.e.now().Before(until):
					show(inst)
					over = true
				case idle:
					err = h.e.ended.IdleUntil(ctx, until)
				default:
					err = h.e.ended.WaitUntil(ctx, until)
				}
			}
			if finishErr := op.finish(ctx); err == nil {
				err = finishErr
			}
			return err
		})
		if err != nil || over {
			return err
		}
	}
}

func notFound(text string) error { return &durable.Error{Code: durable.CodeNotFound, Text: text} }

func noInstance(id string) error { return notFound("No instance with ID '" + id + "' was found.") }

func finished(inst *instance) error {
	return &durable.Error{Code: durable.CodeFinished, Status: inst.Status, Text: "The orchestration instance with the provided instance id is not running."}
}

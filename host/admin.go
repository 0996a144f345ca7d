package host

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Invoke runs a function for an input given by hand, as the admin API does
// (spec host-and-retry 9.5): the input is the trigger's value, a timer ignores it.
// It is a host call: the retry policy applies, each attempt has an invocation
// ID of its own, and no source counts, releases or poisons anything. A disabled
// function runs too. Invoke waits for the result; when ctx ends the retry loop
// does.
func (h *Host) Invoke(ctx context.Context, name, input string) (triggers.Result, error) {
	var res triggers.Result
	var err error
	h.clk.Inside("invoke", func() {
		token, release := h.token(ctx)
		defer release()
		var call func(context.Context) *clock.Group
		if call, err = byHand(token, h, name, input, &res); err == nil {
			call(token).Wait()
		}
	})
	return res, err
}

// InvokeAsync is Invoke without waiting: it returns as soon as the call is
// accepted. The outcome stands in the journal.
func (h *Host) InvokeAsync(ctx context.Context, name, input string) error {
	var err error
	h.clk.Inside("invoke", func() {
		token, release := h.token(ctx)
		defer release()
		var call func(context.Context) *clock.Group
		if call, err = byHand(token, h, name, input, new(triggers.Result)); err == nil {
			call(h.root)
		}
	})
	return err
}

// byHand prepares a call by hand of the named function. The call runs in a group
// of its own, which it returns, and its generation waits for it: when that one is
// stopped, the call keeps its retry loop for the grace and then ends with the
// last failure (D-14).
func byHand(ctx context.Context, h *Host, name, input string, res *triggers.Result) (call func(context.Context) *clock.Group, err error) {
	gen, err := h.ready(ctx)
	if err != nil {
		return nil, err
	}
	f := gen.function(name)
	if f == nil {
		return nil, fmt.Errorf("function %q: %w", name, ErrUnknownFunction)
	}
	message, err := f.kind.Message(&f.view, input)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) *clock.Group {
		group := clock.NewGroup(h.clk, 0)
		group.Go("invoke "+name, func() {
			token, release := gen.token(ctx)
			defer release()
			ev := &triggers.Event{Source: "admin", Messages: []triggers.Message{message}, CallerWaits: true}
			*res = f.Handle(token, ev)
			f.Settled(ev, triggers.Settlement{Decision: triggers.Responded})
		})
		gen.group.Go("await invoke "+name, group.Wait)
		return group
	}, nil
}

// DrainState is the state of a drain, in the platform's words.
type DrainState string

// The states of a drain (host: HostController.cs DrainStatus).
const (
	DrainDisabled   DrainState = "Disabled"
	DrainInProgress DrainState = "InProgress"
	DrainCompleted  DrainState = "Completed"
)

// DrainStatus is what GET /admin/host/drain/status answers: attempts that run, and
// deliveries in a retry loop. One that waits for its next attempt is among the
// retries only.
type DrainStatus struct {
	State                  DrainState `json:"state"`
	OutstandingInvocations int        `json:"outstandingInvocations"`
	OutstandingRetries     int        `json:"outstandingRetries"`
}

// Drain stops the listeners and lets what runs go on (spec host-and-retry 7.3).
func (h *Host) Drain(ctx context.Context) error {
	var err error
	h.clk.Inside("drain", func() {
		release := h.lockLoading()
		defer release()
		gen := h.current.Load()
		if gen == nil || h.State() != Running {
			err = ErrNotRunning
			return
		}
		gen.stopListening(true)
	})
	return err
}

// DrainStatus reports how far a drain is: complete when no invocation and no
// retry is outstanding.
func (h *Host) DrainStatus() (DrainStatus, error) {
	gen := h.current.Load()
	if gen == nil {
		return DrainStatus{}, ErrNotRunning
	}
	s := DrainStatus{
		State:                  DrainDisabled,
		OutstandingInvocations: int(h.counters.invocations.Load()),
		OutstandingRetries:     int(h.counters.retries.Load()),
	}
	if gen.draining.Load() {
		s.State = DrainInProgress
		if s.OutstandingInvocations == 0 && s.OutstandingRetries == 0 {
			s.State = DrainCompleted
		}
	}
	return s, nil
}

// Resume restarts the host after a drain. ErrNotRunning: there is no app to
// restart.
func (h *Host) Resume(ctx context.Context) error { return h.Restart(ctx) }

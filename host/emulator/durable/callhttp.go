package durable

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/durable/httpcall"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// CallHTTP is the point of a request of callHttp, as FaultPoint.Op: before it goes out, and
// once its answer is there. An error is the failure of the request.
const CallHTTP = "CallHttp"

// httpFunction is the activity behind callHttp.
var httpFunction = durable.Function{Kind: durable.Activities, Name: strings.ToLower(plan.HTTPActivity)} // read only

// calls are the requests of callHttp (spec durable 6.5). The engine makes them itself, as
// activities that it takes and reports like any worker: at least once, and so many at a time
// as activities of an app. They are made outside the clock.
type calls struct {
	group  *clock.Group
	ctx    context.Context // ends with Stop
	cancel context.CancelFunc
}

func newCalls(clk clock.Clock) *calls {
	c := &calls{group: clock.NewGroup(clk, 0)}
	c.ctx, c.cancel = clk.WithCancel(context.Background())
	return c
}

// Stopped waits for what Stop has broken off.
func (e *Engine) Stopped() { e.clk.Inside("end of callHttp", e.calls.group.Wait) }

// beginCalls begins to make the requests of a hub.
func (e *Engine) beginCalls(h *Hub) {
	e.calls.group.Go("callHttp of "+h.name, func() {
		for e.calls.ctx.Err() == nil {
			a, err := h.NextActivity(e.calls.ctx, plan.HTTPActivity)
			if err != nil {
				_ = e.clk.Sleep(e.calls.ctx, time.Second) // the store's; Stop ends the wait
				continue
			}
			e.calls.group.Go("callHttp of "+a.Instance, func() { h.call(e.calls.ctx, a) })
		}
	})
}

// call makes a request, and gives what came of it to its instance. One that Stop breaks off is
// made again.
func (h *Hub) call(ctx context.Context, a *durable.Activity) {
	answer, failure := h.ask(ctx, a)
	end := func(op *operation, a *activity) {
		e := durable.Event{Type: durable.TaskCompleted, ID: -1, Task: a.number, Result: &answer}
		if failure != nil {
			e.Type, e.Result, e.Reason, e.Failure = durable.TaskFailed, nil, &failure.Reason, failure.Failure
			if failure.Failure == nil {
				e.Details = &failure.Details
			}
		}
		a.over(op, e)
	}
	if failure != nil && ctx.Err() != nil {
		end = nil
	}
	// An error is the store's: the request is then made again.
	_ = h.settle(context.WithoutCancel(ctx), a, end)
}

// ask makes a request between its fault points.
func (h *Hub) ask(ctx context.Context, a *durable.Activity) (answer string, failure *httpcall.Failure) {
	point := FaultPoint{Op: CallHTTP, Hub: h.name, Function: a.Name, Instance: a.Instance}
	if err := h.e.fault(point); err != nil {
		return "", httpcall.Broken(err)
	}
	h.e.clk.Outside(ctx, "callHttp of "+a.Instance, func() { answer, failure = httpcall.Do(ctx, a.Input) })
	point.After = true
	if err := h.e.fault(point); err != nil {
		return "", httpcall.Broken(err)
	}
	return answer, failure
}

package host

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/ids"
	"github.com/redeliver/redeliver/host/internal/timelimit"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// delivery is one event on its way through the retry loop.
type delivery struct {
	f      *function
	ev     *triggers.Event
	number uint64
	base   journal.Record // the fields that all records of this delivery share

	counted  counted
	attempts int
	payload  *payload             // of the current event; the same for all attempts
	inputs   []call.Input         // of the current attempt
	kept     map[*app.Binding]any // what bindings keep for the current attempt
	response *bindings.HTTPResponse
	asked    triggers.Request
	returned *bindings.Value
	logs     func(call.Log) // writes a line of the handler
	caller   *caller        // below whose token it is; may be nil
	span     string         // what the worker adds to that of the current attempt
	waits    waits
	limit    timelimit.Limit // of the current attempt
	last     failure
	flood    journal.Flood
}

// Handle runs the function for one delivery: the way of one message, between
// the listener and the retry loop. It implements triggers.Sink.
func (f *function) Handle(ctx context.Context, ev *triggers.Event) triggers.Result {
	d := &delivery{f: f, ev: ev}
	d.number = f.receive(ev)
	d.base = f.record(ev)
	d.logs = d.log
	d.caller, _ = ctx.Value(callerKey{}).(*caller)
	defer d.waits.over()
	h := f.gen.host

	d.counted.in = &h.counters
	d.counted.begun()
	round := f.breaker.Began()
	cut := false
	attempts, err := retrycontext.Do(ctx, f.def.Policy, d.sleep, d.attempt, &retrycontext.Options{
		Jitter:    ids.Jitter(h.opts.Seed, d.number),
		Exception: d.exceptionOf,
		Hooks: retrycontext.Hooks{
			Scheduled: func(r retrycontext.Retry) {
				d.counted.failed()
				rec := d.base
				rec.Kind, rec.Attempt, rec.Delay, rec.HasDelay = journal.RetryScheduled, r.Number+1, r.Delay, true
				if r.Asked {
					rec.Cause = "declared"
				}
				h.journal.Append(rec)
			},
			Exhausted: func(x retrycontext.Exhausted) {
				rec := d.base
				rec.Kind, rec.Attempt, rec.Cause, rec.Error = journal.RetriesExhausted, x.Retries+1, string(x.Cause), x.Err.Error()
				h.journal.Append(rec)
			},
			Cancelled: func(c retrycontext.Cancelled) {
				cut = true
				rec := d.base
				rec.Kind, rec.Attempt, rec.Error = journal.RetryCancelled, c.Retry.Number+1, c.Retry.Err.Error()
				h.journal.Append(rec)
			},
		},
	})
	d.counted.over()

	res := triggers.Result{Err: err, Attempts: attempts, Asked: d.asked}
	if err == nil {
		res.Response, res.Returned = d.response, d.returned
	}
	res.Cancelled = err != nil && (ctx.Err() != nil || f.gen.attempts.Err() != nil)
	if cut || err != nil && (f.gen.attempts.Err() != nil || ev.CallerWaits && ctx.Err() != nil) {
		f.breaker.Cancelled(round) // a reload, a stop or the caller ended it
	} else {
		f.breaker.Delivered(round, err == nil, f.breakerChanged)
	}
	return res
}

// Call implements triggers.Caller. The journal has the handler's own lines only.
func (f *function) Call(ev *triggers.Event) triggers.Result {
	d := &delivery{f: f, ev: ev, attempts: 1, base: f.record(ev)}
	d.base.HasPolicy, d.base.MaxRetryCount, d.base.Invocation = false, 0, f.gen.host.ids.Invocation()
	d.logs, d.counted.in = d.log, &f.gen.host.counters
	d.counted.begun()
	defer d.counted.over()
	err := d.run(nil)
	return triggers.Result{Err: err, Attempts: 1, Returned: d.returned, Cancelled: err != nil && (f.gen.attempts.Err() != nil || f.gen.host.life.Over())}
}

// sleep is the wait before a retry. It ends, and does not begin, without a caller
// to wait for it.
func (d *delivery) sleep(ctx context.Context, wait time.Duration) error {
	if err := d.caller.gone(); err != nil {
		return err
	}
	if err := d.waits.sleep(ctx, d.f.gen, wait); err != nil {
		return err
	}
	return d.caller.gone()
}

// waits are the retry waits of one delivery. They end with its context, or when
// running attempts of the generation must end, which one token for all of them says.
type waits struct {
	token   context.Context // nil before the first
	release func()
}

func (w *waits) sleep(ctx context.Context, g *generation, d time.Duration) error {
	if w.token == nil {
		w.token, w.release = g.token(ctx)
	}
	return g.host.clk.Sleep(w.token, d)
}

// over is the end of the delivery.
func (w *waits) over() {
	if w.release != nil {
		w.release()
	}
}

// Settled writes the end of a delivery into the journal. It implements
// triggers.Sink.
func (f *function) Settled(ev *triggers.Event, s triggers.Settlement) {
	f.receive(ev)
	rec := f.record(ev)
	rec.Kind = journal.Settled
	rec.Decision, rec.Target, rec.Message = string(s.Decision), s.Target, s.Note
	rec.Beside.Members = triggers.Decisions(ev.Messages, s.Decision)
	if s.Err != nil {
		rec.Error = s.Err.Error()
	}
	if s.Status != 0 {
		rec.Fields = []journal.Field{{Key: "http_status", Value: itoa(s.Status)}}
	}
	if s.Copy != "" {
		rec.Fields = []journal.Field{{Key: "new_message_id", Value: s.Copy}}
	}
	f.gen.host.journal.Append(rec)
	if s.Copy != "" && s.Failure != nil {
		f.gen.host.poisoned.add(s.Copy, s.Failure.Error())
	}
}

// Skip implements triggers.Sink.
func (f *function) Skip(ev *triggers.Event) {
	f.receive(ev)
	f.Gate().Unused(1)
}

// Draining implements triggers.Sink.
func (f *function) Draining() bool { return f.gen.draining.Load() }

// Replaced implements triggers.Sink.
func (f *function) Replaced() bool { return false }

// receive gives the event its identity and writes the received record, the
// first time that the sink sees it. It returns the delivery's number.
func (f *function) receive(ev *triggers.Event) uint64 {
	if ev.Delivery != "" {
		return 0
	}
	h := f.gen.host
	number, name := h.ids.Delivery()
	ev.Delivery = name
	rec := f.record(ev)
	rec.Kind = journal.Received
	if ev.Batch {
		rec.Fields = []journal.Field{{Key: "messages", Value: itoa(len(ev.Messages))}}
		rec.Beside.Batch, rec.Beside.Members, rec.Beside.Counts = triggers.IDs(ev.Messages), triggers.Numbers(ev.Messages), triggers.Counts(ev.Messages)
	}
	if h.opts.KeepBodies {
		rec.Beside.Body = ev.Body()
	}
	for _, d := range ev.Details {
		rec.Fields = append(rec.Fields, journal.Field{Key: d.Name, Value: d.Value})
	}
	rec.Fields = append(rec.Fields, h.opts.Trace.Fields(ev)...)
	h.journal.Append(rec)
	return number
}

// record returns a record with what all records of a delivery share.
func (f *function) record(ev *triggers.Event) journal.Record {
	rec := journal.Record{
		Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type,
		Source: ev.Source, Delivery: ev.Delivery, DeliveryCount: ev.DeliveryCount,
	}
	if len(ev.Messages) > 0 {
		rec.MessageID, rec.MessageNumber = ev.Messages[0].ID, ev.Messages[0].Number
	}
	if p := f.def.Policy; p != nil {
		rec.HasPolicy, rec.MaxRetryCount = true, p.MaxRetryCount
	}
	return rec
}

// attempt makes one attempt and writes its pair of records. retrycontext.Do
// repeats it.
func (d *delivery) attempt(_ context.Context, rc *retrycontext.Context) error {
	h := d.f.gen.host
	d.counted.begun()
	d.attempts++
	if d.attempts == 1 || d.ev.CallerWaits {
		// Triggered deliveries keep their invocation ID for all attempts (sdk:
		// TriggeredFunctionExecutor.cs); host calls have one for each (sdk:
		// JobHost.cs CreateFunctionInstance).
		d.base.Invocation = h.ids.Invocation()
	}
	rec := d.base
	rec.Kind, rec.Attempt = journal.AttemptStarted, d.attempts
	h.journal.Append(rec)

	err := d.run(rc)

	rec.Kind, rec.Status = journal.AttemptEnded, "succeeded"
	rec.Beside.Span, d.span = d.span, ""
	if err != nil {
		rec.Status, rec.Error = "failed", d.last.textOf(err)
		if _, ok := errors.AsType[*TimeoutError](err); ok {
			rec.Status = "timed_out"
		}
		if handler, ok := errors.AsType[*functions.Error](err); ok {
			rec.Beside.Stack = handler.Stack
		}
	}
	h.journal.Append(rec)
	return err
}

// Gate implements triggers.Sink.
func (f *function) Gate() triggers.Gate { return f.breaker.Gate(f.breakerChanged) }

func (f *function) breakerChanged(kind journal.Kind) {
	rec := journal.Record{Kind: kind, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type}
	if kind == journal.CircuitOpened {
		rec.Delay = f.breaker.Pause()
	}
	f.gen.host.journal.Append(rec)
}

package blob

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
)

// Notes of control messages that led to no run.
const (
	// NoteGone: the blob was deleted before its turn came.
	NoteGone = "the blob does not exist any more"
	// NoteChanged: a newer version of the blob is queued in its place.
	NoteChanged = "the blob has changed since it was queued: the new version comes instead"
)

// router turns messages of the control queue into deliveries of functions. It is
// the Sink of the control queue's listener.
//
// Source: BlobQueueTriggerExecutor.cs.
type router struct {
	s       *Shared
	scanner *scanner
	reader  *queue.Listener // whose sink it is
	first   triggers.Sink   // of the listener that began it: they stop together
	taking  context.Context // ends when no more is taken
	core    *core           // whose router it is

	mu     sync.Mutex
	routes map[*triggers.Event]*route // by the event of the control queue
	admits int                        // of the only function, not used yet
}

// route is a control message on its way through a function.
type route struct {
	m    *member
	ev   *triggers.Event
	note string // why the function did not run
}

var _ triggers.Sink = (*router)(nil)

// Gate implements triggers.Sink. The only function of a host decides how much is
// taken off the queue. Several cannot: whose message is next is not known before
// it is received, so with several the function is asked when its message has
// arrived. The message then waits, with its lock renewed, and does not count as
// in work.
func (r *router) Gate() triggers.Gate { return r }

// Admit implements triggers.Gate.
func (r *router) Admit(ctx context.Context, n int) (int, error) {
	sole := r.s.sole()
	if sole == nil {
		return n, ctx.Err()
	}
	n, err := sole.sink.Gate().Admit(ctx, n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admits += n
	return n, err
}

// Try implements triggers.Gate. The control queue is polled, so Try has no caller.
func (r *router) Try() (retryAfter time.Duration, ok bool) { return 0, true }

// WhileAdmitted implements triggers.Gate. The control queue is polled: there is no
// wait that could outlast its admission.
func (r *router) WhileAdmitted(ctx context.Context) (waiting context.Context, release func()) {
	return ctx, func() {}
}

// Unused implements triggers.Gate.
func (r *router) Unused(n int) {
	r.mu.Lock()
	n = min(n, r.admits)
	r.admits -= n
	r.mu.Unlock()
	if sole := r.s.sole(); sole != nil && n > 0 {
		sole.sink.Gate().Unused(n)
	}
}

// Skip implements triggers.Sink: it tells the function that the message is for,
// unless the function was never asked to admit it.
func (r *router) Skip(control *triggers.Event) {
	msg, err := decodeControl(control.Messages[0].Value.Data)
	if err != nil {
		r.Unused(1)
		return
	}
	m := r.s.member(msg.FunctionID)
	if m == nil || r.s.sole() != m {
		r.Unused(1)
		return
	}
	r.mu.Lock()
	r.admits = max(r.admits-1, 0)
	r.mu.Unlock()
	m.sink.Skip(r.route(control, m, msg).ev)
}

// admit asks a function to take one delivery.
func (r *router) admit(ctx context.Context, m *member) error {
	r.mu.Lock()
	admitted := r.admits > 0
	if admitted {
		r.admits--
	}
	r.mu.Unlock()
	if admitted {
		return nil
	}
	_, err := m.sink.Gate().Admit(ctx, 1)
	return err
}

// Draining implements triggers.Sink: deliveries have the token of their function's
// listener, which outlasts a reader that has failed.
func (r *router) Draining() bool { return true }

// BeginAgain implements triggers.Sink: the error belongs to the listener of every
// function. The listener that begins again has another reader.
func (r *router) BeginAgain(_ context.Context, cause error) error {
	r.s.over(r.core, cause)
	return cause
}

// Replaced implements triggers.Sink.
func (r *router) Replaced() bool { return r.first.Replaced() }

// Handle implements triggers.Sink: the cases of spec storage 9.4.
func (r *router) Handle(ctx context.Context, control *triggers.Event) triggers.Result {
	r.s.count(r.core, 1)
	defer r.s.count(r.core, -1)
	msg, err := decodeControl(control.Messages[0].Value.Data)
	if err != nil {
		r.Unused(1)
		return triggers.Result{Err: err}
	}
	var m *member
	var refused error
	// Nothing has begun before the function takes it: a drain ends these waits too, and
	// so does a state that was replaced.
	r.reader.Aside(func() { // the blobs of other functions are not kept from them
		if m, err = r.s.await(r.taking, msg.FunctionID); m != nil {
			refused = r.admit(r.taking, m)
		}
	})
	switch {
	case m == nil:
		r.Unused(1)
		return triggers.Result{Err: err, Cancelled: err != nil} // nil: the function is not in this host; the message is deleted
	case refused != nil:
		return triggers.Result{Err: refused, Cancelled: true}
	}
	to := r.route(control, m, msg)
	p, err := m.f.Account.Blobs.Container(msg.ContainerName).Blob(msg.BlobName).Properties(ctx, nil)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		to.note = NoteGone
	case err != nil:
	case p.ETag != msg.ETag && !m.f.EventGrid:
		to.note = NoteChanged
		r.scanner.look(m.f, msg.ContainerName, msg.BlobName)
	default:
		content := m.f.Message(msg.ContainerName, msg.BlobName, p)
		content.ID = to.ev.Messages[0].ID
		to.ev.Messages[0] = content
		to.ev.Details = append(slices.Clone(control.Details),
			queue.TimeDetail("BlobCreated", p.Created), queue.TimeDetail("BlobLastModified", p.LastModified))
		return m.sink.Handle(m.token, to.ev)
	}
	m.sink.Gate().Unused(1)
	if to.note != "" {
		err = nil
	}
	return triggers.Result{Err: err}
}

// route makes the event of a function for a control message.
func (r *router) route(control *triggers.Event, m *member, msg *controlMessage) *route {
	to := &route{m: m, ev: eventOf(control, msg)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routes[control] = to
	return to
}

// eventOf is the event of a function for a control message, before its blob is
// looked at.
func eventOf(control *triggers.Event, msg *controlMessage) *triggers.Event {
	return &triggers.Event{
		Source:        msg.ContainerName + "/" + msg.BlobName,
		DeliveryCount: control.DeliveryCount,
		Messages:      []triggers.Message{{ID: control.Messages[0].ID}},
		Details:       control.Details,
	}
}

// Settled implements triggers.Sink. A message that no function could be found for
// is settled without anybody to tell.
func (r *router) Settled(control *triggers.Event, s triggers.Settlement) {
	r.mu.Lock()
	to := r.routes[control]
	delete(r.routes, control)
	r.mu.Unlock()
	if to == nil { // it never came to Handle: delivered too often
		msg, err := decodeControl(control.Messages[0].Value.Data)
		if err != nil {
			return
		}
		m := r.s.member(msg.FunctionID)
		if m == nil {
			return
		}
		to = &route{m: m, ev: eventOf(control, msg)}
	}
	if s.Note == "" {
		s.Note = to.note
	}
	to.m.sink.Settled(to.ev, s)
}

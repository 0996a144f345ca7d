package bus

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// receiver is the source of a client: an entity, or one session of it.
type receiver struct {
	b      *Backend
	link   servicebus.Link
	source string
	at     holder
	within place

	pulling, settling guest
	waiting, telling  amqp.Waiting
	awaits, lost      atomic.Bool   // a wait for messages goes on; there is no more to wait for
	patience          time.Duration // then
	idle              *idle
}

// receiverOptions are the options of a link's receiver.
func receiverOptions(r *amqp.AttachRequest) servicebus.ReceiverOptions {
	opts := servicebus.ReceiverOptions{RealTime: true}
	if r.SendMode == wire.SendSettled {
		opts.Mode, opts.Transfers = servicebus.ReceiveAndDelete, true
	}
	return opts
}

// receiver is the node of a client that receives.
func (b *Backend) receiver(path servicebus.Path, r *amqp.AttachRequest) (*amqp.Grant, error) {
	opts := receiverOptions(r)
	from, err := b.ns.Receiver(background, path.String(), &opts)
	if err != nil {
		return nil, err
	}
	return b.serve(from, r)
}

// serve returns the node for a receiver of the namespace.
func (b *Backend) serve(from servicebus.Receiver, r *amqp.AttachRequest) (*amqp.Grant, error) {
	link, ok := from.(servicebus.Link)
	if !ok {
		return nil, errors.New("the namespace's receivers cannot be served")
	}
	return &amqp.Grant{Node: &receiver{b: b, link: link, source: from.Source(), at: holder{r.Connection, r.Name}, within: place{r.Connection, r.Session}, idle: b.watchIdle(r, "consumer", "AmqpMessageConsumer"), patience: patience(r.Client)}}, nil
}

// Close implements amqp.Node.
func (r *receiver) Close(vanished bool) {
	r.b.holders.forget(r.at, r.link)
	r.b.inside("detach", func() error {
		r.telling.Interrupt()
		r.idle.end()
		if vanished {
			r.link.Vanish()
			return nil
		}
		return r.link.Close(background)
	})
}

// lossIsTold is how long after the end of its session's lock a client that waits for a
// message is detached; one that waits for none is at once. The moment is for a client that
// waits as long as the lock lasts, and sees an empty session (azure-servicebus for Python
// 7.15.0: tests/test_sessions.py, receive_handler_receiveanddelete).
const lossIsTold = 250 * time.Millisecond

// patience is how long the detach of a waiting client is put off. The client for .NET drains
// its link when its wait ends, in whatever way, and a drain that meets a detach hangs for the
// client's time-out: it is detached when it has waited long enough itself.
//
// Source: azure-amqp: ReceivingAmqpLink.cs (DrainAsyncResult); azure-sdk-for-net:
// AmqpReceiver.cs (ReceiveMessagesAsyncInternal).
func patience(client string) time.Duration {
	if strings.Contains(strings.ToLower(client), "azsdk-net") {
		return math.MaxInt64
	}
	return lossIsTold
}

// Watch implements amqp.Producer.
func (r *receiver) Watch() error {
	err := r.b.inside("watch", func() error {
		err := r.link.Lost(background)
		r.lost.Store(true)
		if errors.Is(err, messaging.ErrSessionLockLost) && r.awaits.Load() {
			ctx, cancel := r.b.clk.WithCancel(background)
			defer cancel()
			r.telling.Do(cancel, func() { r.b.clk.Idle(ctx, r.patience) })
		}
		return err
	})
	if err == nil || errors.Is(err, messaging.ErrClosed) {
		return nil
	}
	return asCondition(err)
}

// Pull implements amqp.Producer.
func (r *receiver) Pull(n int, wait bool) ([]amqp.Outgoing, error) {
	r.idle.used() // the client has given credit, or taken a message
	var list []*servicebus.Received
	var err error
	r.pulling.inside(r.b, "AMQP receive", func() {
		// Mostly there is something, and then a wait need not be made ready.
		list, err = r.link.Receive(background, n, 0)
		if wait && err == nil && len(list) == 0 {
			list, err = r.await(n)
		}
	})
	r.idle.used()
	out := make([]amqp.Outgoing, len(list))
	for i, m := range list {
		out[i] = newOutgoing(m)
	}
	if err != nil {
		return out, asCondition(err)
	}
	return out, nil
}

// await receives when there is something, or nothing when it is interrupted.
func (r *receiver) await(n int) (list []*servicebus.Received, err error) {
	r.awaits.Store(true)
	defer func() {
		if r.awaits.Store(false); r.lost.Load() {
			r.telling.Interrupt()
		}
	}()
	ctx, cancel := r.b.clk.WithCancel(background)
	defer cancel()
	r.waiting.Do(cancel, func() {
		if list, err = r.link.Receive(ctx, n, messaging.Forever); errors.Is(err, messaging.ErrSessionLockLost) {
			if e := r.b.clk.Idle(ctx, r.patience); e != nil {
				err = e
			}
		}
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return list, err
}

// Interrupt implements amqp.Producer.
func (r *receiver) Interrupt() {
	r.b.clk.Inside("AMQP flow", r.waiting.Interrupt)
}

// Return implements amqp.Producer: a message that was not sent was not delivered.
func (r *receiver) Return(list []amqp.Outgoing) {
	tokens := make([]bindings.GUID, 0, len(list))
	var deleted []*servicebus.Received
	for _, m := range list {
		if m := m.(*outgoing); m.Settled() {
			deleted = append(deleted, m.Received)
		} else {
			tokens = append(tokens, m.LockToken)
		}
	}
	r.b.inside("release", func() error {
		if len(deleted) > 0 {
			return r.link.GiveBack(background, deleted...)
		}
		return r.b.ns.Settle(background, r.source, servicebus.Settlement{Action: servicebus.Release}, tokens...)
	})
}

// Transferred implements amqp.Deleter.
func (r *receiver) Transferred(list []amqp.Outgoing) {
	messages := make([]*servicebus.Received, len(list))
	for i, m := range list {
		messages[i] = m.(*outgoing).Received
	}
	r.b.clk.Inside("AMQP transferred", func() { r.link.Transferred(messages...) })
}

// outgoing is a message on its way to a client.
type outgoing struct {
	*servicebus.Received
	tag []byte
}

func newOutgoing(m *servicebus.Received) *outgoing {
	o := &outgoing{m, nil}
	if o.Settled() {
		o.tag = deliveryTag(bindings.GUID{8: byte(m.SequenceNumber >> 56), 9: byte(m.SequenceNumber >> 48), 10: byte(m.SequenceNumber >> 40), 11: byte(m.SequenceNumber >> 32), 12: byte(m.SequenceNumber >> 24), 13: byte(m.SequenceNumber >> 16), 14: byte(m.SequenceNumber >> 8), 15: byte(m.SequenceNumber)})
	} else {
		o.tag = deliveryTag(m.LockToken)
	}
	return o
}

func (o *outgoing) Tag() []byte            { return o.tag }
func (o *outgoing) Settled() bool          { return o.LockToken == bindings.GUID{} }
func (o *outgoing) Append(b []byte) []byte { return appendMessage(b, o.Received) }

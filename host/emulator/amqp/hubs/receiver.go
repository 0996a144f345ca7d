package hubs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Properties of a receiver: its owner level, and how others are told of it.
const (
	epochProperty = "com.microsoft:epoch"
	nameProperty  = "com.microsoft:receiver-name"
)

// receiver is the source of a client: a partition, at a position.
type receiver struct {
	b       *Backend
	reader  eventhubs.Reader
	settled bool // events are sent settled
	from    eventhubs.Address
	metrics bool           // the client wants to know the partition's end with each event
	pulling *clock.Visitor // of the one goroutine that calls Pull
	waiting amqp.Waiting

	mu   sync.Mutex
	back []amqp.Outgoing // pulled and not sent
}

// lost is a method that readers of an embedded namespace have beside the
// contract.
type lost interface {
	Lost(ctx context.Context) error
}

// receiver is the node of a client that receives.
func (b *Backend) receiver(from eventhubs.Address, r *amqp.AttachRequest) (*amqp.Grant, error) {
	position, err := positionOf(r.Filter)
	if err != nil {
		return nil, err
	}
	opts := &eventhubs.ReaderOptions{RealTime: true}
	opts.Name, _ = r.Properties.Get(nameProperty).(string)
	if v := r.Properties.Get(epochProperty); v != nil {
		level, ok := values.Integer(v)
		if !ok {
			return nil, argumentf("%s is a %T: want a long", epochProperty, v)
		}
		opts.OwnerLevel = &level
	}
	reader, err := b.ns.ReadEvents(background, from.Hub, from.Group, from.Partition, position, opts)
	if err != nil {
		return nil, err
	}
	return &amqp.Grant{Node: &receiver{
		b: b, reader: reader, settled: r.SendMode != wire.SendUnsettled, from: from, metrics: desires(r.Desired, runtimeMetric),
	}}, nil
}

// Close implements amqp.Node.
func (r *receiver) Close(bool) {
	_ = r.b.inside("detach", func() error { return r.reader.Close(background) })
}

// Watch implements amqp.Producer.
func (r *receiver) Watch() error {
	reader, ok := r.reader.(lost)
	if !ok {
		return nil
	}
	err := r.b.inside("watch", func() error { return reader.Lost(background) })
	if err == nil {
		return nil
	}
	return asCondition(err)
}

// Pull implements amqp.Producer.
func (r *receiver) Pull(n int, wait bool) ([]amqp.Outgoing, error) {
	if out := r.takeBack(n); len(out) > 0 {
		return out, nil
	}
	if r.pulling == nil {
		r.pulling = clock.NewVisitor(r.b.clk)
	}
	var list []*eventhubs.ReceivedEvent
	var metrics wire.Map
	var err error
	r.pulling.Inside("AMQP receive events", func() {
		list, err = r.reader.Receive(background, n, 0)
		if wait && err == nil && len(list) == 0 {
			list, err = r.await(n)
		}
		if r.metrics && len(list) > 0 {
			metrics = r.partitionMetrics()
		}
	})
	out := make([]amqp.Outgoing, len(list))
	for i, e := range list {
		out[i] = &outgoing{e, r.settled, metrics}
	}
	if err != nil {
		return out, asCondition(err)
	}
	return out, nil
}

// runtimeMetric is the capability that a client desires which tracks the last event of
// its partition: each event then tells of it.
//
// Source: azure-eventhub for Python 5.15.1, _consumer.py and _utils.py.
const runtimeMetric wire.Symbol = "com.microsoft:enable-receiver-runtime-metric"

func desires(desired any, capability wire.Symbol) bool {
	if all, ok := desired.(*wire.Array); ok {
		return slices.Contains(all.Items, any(capability))
	}
	return desired == capability
}

// partitionMetrics say where the partition ends now; nil if it is gone.
func (r *receiver) partitionMetrics() wire.Map {
	p, err := r.b.ns.Partition(background, r.from.Hub, r.from.Partition)
	if err != nil {
		return nil
	}
	return wire.Map{
		{Key: wire.Symbol("last_enqueued_sequence_number"), Value: p.LastSequence},
		{Key: wire.Symbol("last_enqueued_offset"), Value: p.LastOffset},
		{Key: wire.Symbol("last_enqueued_time_utc"), Value: wire.TimestampOf(p.LastEnqueued)},
		{Key: wire.Symbol("runtime_info_retrieval_time_utc"), Value: wire.TimestampOf(r.b.clk.Now())},
	}
}

// takeBack takes from what was pulled and not sent.
func (r *receiver) takeBack(n int) []amqp.Outgoing {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.back[:min(n, len(r.back))]
	r.back = r.back[len(out):]
	return out
}

// await receives when there is something, or nothing when it is interrupted.
func (r *receiver) await(n int) (list []*eventhubs.ReceivedEvent, err error) {
	ctx, cancel := r.b.clk.WithCancel(background)
	defer cancel()
	r.waiting.Do(cancel, func() { list, err = r.reader.Receive(ctx, n, messaging.Forever) })
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return list, err
}

// Interrupt implements amqp.Producer.
func (r *receiver) Interrupt() {
	r.b.clk.Inside("AMQP flow", r.waiting.Interrupt)
}

// Return implements amqp.Producer: the events are the next ones again.
func (r *receiver) Return(list []amqp.Outgoing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back = append(append([]amqp.Outgoing(nil), list...), r.back...)
}

// Settle implements amqp.Producer: an event stays, with every outcome.
func (r *receiver) Settle([]amqp.Settlement) {}

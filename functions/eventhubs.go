package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// EventHubEvent is an event of an event hub.
type EventHubEvent struct {
	// Body is the event as it was sent; it need not be text.
	Body []byte
	// PartitionKey is the key by which the event came to its partition; empty without.
	PartitionKey string
	// SequenceNumber is unique in the partition and ascending, without gaps.
	SequenceNumber int64
	// Offset is the event's position in the partition.
	Offset string
	// EnqueuedTime is when the service took it.
	EnqueuedTime time.Time
	// Properties are the sender's own, as JSON values.
	Properties map[string]any
}

// Text returns the body as text.
func (e EventHubEvent) Text() string { return string(e.Body) }

// Decode reads the body as JSON into the value that target points to.
func (e EventHubEvent) Decode(target any) error {
	if err := json.Unmarshal(e.Body, target); err != nil {
		return fmt.Errorf("event hub event: %w", err)
	}
	return nil
}

// EventHubPartition says where the events of an invocation are from.
type EventHubPartition struct {
	FullyQualifiedNamespace string
	EventHubName            string
	ConsumerGroup           string
	PartitionID             string `json:"PartitionId"`
	// IsCheckpointingAfterInvocation says whether a checkpoint follows, with any
	// result of the function: batchCheckpointFrequency, enableCheckpointing.
	IsCheckpointingAfterInvocation bool
}

// EventHub registers a function that each event of a hub triggers. Events of
// one partition come one after the other. When the last attempt has failed the
// event is lost: the checkpoint moves on. While attempts are made, the
// partition stands still.
func (a *App) EventHub(name, hub string, h func(ctx context.Context, e EventHubEvent) error, opts ...EventHubOption) {
	a.eventHub(name, hub, "one", h == nil, func(ctx context.Context, c *invocation) error {
		m := Metadata(c.request.Metadata)
		e := EventHubEvent{
			Body: triggerInput(c.request).Bytes(), PartitionKey: m.Get("PartitionKey"), Offset: m.Get("Offset"), EnqueuedTime: parseTime(m.Get("EnqueuedTimeUtc")),
		}
		// Properties of a JSON body may hide metadata of the same name: zero values then.
		e.SequenceNumber, _ = strconv.ParseInt(m.Get("SequenceNumber"), 10, 64)
		_ = json.Unmarshal([]byte(m.Get("Properties")), &e.Properties)
		return h(ctx, e)
	}, opts)
}

// EventHubBatch registers a function that batches of events trigger. Otherwise
// it is like [App.EventHub], with the batch in the place of the event.
func (a *App) EventHubBatch(name, hub string, h func(ctx context.Context, from EventHubPartition, events []EventHubEvent) error, opts ...EventHubOption) {
	a.eventHub(name, hub, "many", h == nil, func(ctx context.Context, c *invocation) error {
		var from EventHubPartition
		_ = json.Unmarshal([]byte(Metadata(c.request.Metadata).Get("PartitionContext")), &from) // calls by hand have none
		return h(ctx, from, newEventHubEvents(c.request))
	}, opts)
}

func (a *App) eventHub(name, hub, cardinality string, none bool, handle func(context.Context, *invocation) error, opts []EventHubOption) {
	f := a.register(name, none)
	f.trigger = map[string]any{
		"type": "eventHubTrigger", "direction": "in", "name": "events", "eventHubName": hub, "cardinality": cardinality, "dataType": "binary",
	}
	f.handle = handle
	for _, o := range opts {
		o.applyEventHub(f)
	}
}

// newEventHubEvents takes a batch apart: its metadata are arrays. A call by hand is a
// batch of one, without them.
func newEventHubEvents(r *call.Request) []EventHubEvent {
	in := triggerInput(r)
	bodies := in.Value.List
	if in.Value.Kind != bindings.BytesList && in.Value.Kind != bindings.Strings {
		bodies = []bindings.Value{in.Value}
	}
	out := make([]EventHubEvent, len(bodies))
	m := Metadata(r.Metadata)
	keys, numbers := column[*string](m, "PartitionKeyArray", len(out)), column[int64](m, "SequenceNumberArray", len(out))
	offsets, times := column[string](m, "OffsetArray", len(out)), column[string](m, "EnqueuedTimeUtcArray", len(out))
	properties := column[map[string]any](m, "PropertiesArray", len(out))
	for i, body := range bodies {
		out[i] = EventHubEvent{
			Body: Input{Value: body}.Bytes(), SequenceNumber: numbers[i], Offset: offsets[i], EnqueuedTime: parseTime(times[i]), Properties: properties[i],
		}
		if keys[i] != nil {
			out[i].PartitionKey = *keys[i]
		}
	}
	return out
}

// column reads an array of metadata; a missing element is zero.
func column[T any](m Metadata, name string, n int) []T {
	var values []T
	_ = json.Unmarshal([]byte(m.Get(name)), &values)
	return append(values, make([]T, max(n-len(values), 0))...)
}

// EventHubOption is an option of [App.EventHub] and [App.EventHubBatch].
type EventHubOption interface{ applyEventHub(*function) }

func (o anyOption) applyEventHub(f *function)        { o(f) }
func (o ConnectionOption) applyEventHub(f *function) { f.trigger["connection"] = o.setting }

type eventHubOption func(*function)

func (o eventHubOption) applyEventHub(f *function) { o(f) }

// ConsumerGroup names the consumer group by which a function reads its hub,
// instead of $Default. Every function with a group of its own gets every
// event.
func ConsumerGroup(name string) EventHubOption {
	return eventHubOption(func(f *function) { f.trigger["consumerGroup"] = name })
}

// EventHubOutput declares an output to an event hub. Otherwise it is like
// [QueueOutput].
func EventHubOutput(name, hub string, opts ...OutputOption) Option {
	b := map[string]any{"type": "eventHub", "direction": "out", "name": name, "eventHubName": hub}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}

package hubs

import (
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// management is the node $management of the namespace: it reads what hubs and
// partitions say of themselves.
type management struct{ b *Backend }

// Close implements amqp.Node.
func (*management) Close(bool) {}

// Respond implements amqp.Responder.
func (m *management) Respond(q *wire.Message, _ int, _ []byte) *wire.Message {
	body, err := m.answer(q)
	status, text, more := 200, "OK", wire.Map{}
	if err != nil {
		e := asCondition(err)
		status = messaging.NewError(messaging.Condition(e.Condition), "").Status
		text, more = e.Description, wire.Map{{Key: "errorCondition", Value: e.Condition}, {Key: "error-condition", Value: e.Condition}}
		body = wire.Map{}
	}
	return &wire.Message{
		ApplicationProperties: append(wire.Map{
			{Key: "status-code", Value: int32(status)}, {Key: "statusCode", Value: int32(status)},
			{Key: "status-description", Value: text}, {Key: "statusDescription", Value: text},
		}, more...),
		Body: wire.AppendValue(nil, body),
	}
}

func (m *management) answer(q *wire.Message) (body wire.Map, err error) {
	text := func(key string) string {
		s, _ := q.ApplicationProperties.Get(key).(string)
		return s
	}
	if op := text("operation"); op != "READ" {
		return nil, wire.Errorf(wire.CondNotImplemented, "operation %q is not offered", op)
	}
	read, name := m.hub, text("name")
	switch kind := text("type"); kind {
	case "com.microsoft:eventhub":
	case "com.microsoft:partition":
		read = func(name string) (wire.Map, error) { return m.partition(name, text("partition")) }
	default:
		return nil, wire.Errorf(wire.CondNotImplemented, "type %q is not offered", kind)
	}
	err = m.b.inside("read "+name, func() (err error) {
		body, err = read(name)
		return err
	})
	return body, err
}

func (m *management) hub(name string) (wire.Map, error) {
	h, err := m.b.ns.Hub(background, name)
	if err != nil {
		return nil, err
	}
	return wire.Map{
		{Key: "name", Value: h.Name},
		{Key: "type", Value: "com.microsoft:eventhub"},
		{Key: "created_at", Value: wire.TimestampOf(h.CreatedAt)},
		{Key: "partition_count", Value: int32(len(h.Partitions))},
		{Key: "partition_ids", Value: wire.NewArray(h.Partitions)},
		{Key: "georeplication_factor", Value: int32(1)},
	}, nil
}

func (m *management) partition(hub, partition string) (wire.Map, error) {
	p, err := m.b.ns.Partition(background, hub, partition)
	if err != nil {
		return nil, err
	}
	return wire.Map{
		{Key: "name", Value: p.Hub},
		{Key: "type", Value: "com.microsoft:partition"},
		{Key: "partition", Value: p.ID},
		{Key: "begin_sequence_number", Value: p.BeginningSequence},
		{Key: "last_enqueued_sequence_number", Value: p.LastSequence},
		{Key: "last_enqueued_offset", Value: p.LastOffset},
		{Key: "last_enqueued_time_utc", Value: wire.TimestampOf(p.LastEnqueued)},
		{Key: "is_partition_empty", Value: p.Empty},
	}, nil
}

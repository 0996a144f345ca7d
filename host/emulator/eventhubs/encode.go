package eventhubs

import (
	"bytes"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// eventFormat is the first byte of an event in the store. The rest is a list in the
// encoding of AMQP, which has a type for everything that an event holds. A body that is
// the end of the section in which it came is kept once: in its place is its length.
const eventFormat = 1

func appendEvent(b []byte, r *eventhubs.ReceivedEvent) []byte {
	var key any
	if r.PartitionKey != nil {
		key = *r.PartitionKey
	}
	var body any = r.Body
	if r.Wire != nil && len(r.Body) > 0 && bytes.HasSuffix(r.Wire.Body, r.Body) {
		body = int64(len(r.Body))
	}
	list := wire.List{
		r.Offset, r.EnqueuedTime.Unix(), int32(r.EnqueuedTime.Nanosecond()),
		r.MessageID, r.CorrelationID, r.ContentType, key, values.WireMap(r.Properties), body,
	}
	if w := r.Wire; w != nil {
		list = append(list, w.Header, w.Annotations, w.Properties, w.ApplicationProperties, w.Body, w.Footer)
		if len(w.DeliveryAnnotations) > 0 {
			list = append(list, w.DeliveryAnnotations)
		}
	}
	return wire.AppendAny(b, list)
}

// Numbers of fields in the list.
const (
	plainFields = 9
	wireFields  = 6 // one more with delivery annotations
)

// decodeEvent reads what appendEvent wrote; false: it is something else.
func decodeEvent(b []byte, seq int64) (*eventhubs.ReceivedEvent, bool) {
	if len(b) == 0 || b[0] != eventFormat {
		return nil, false
	}
	d := wire.NewDecoder(b[1:])
	list, ok := d.Any().(wire.List)
	if d.Err() != nil || d.More() || !ok {
		return nil, false
	}
	switch len(list) {
	case plainFields, plainFields + wireFields, plainFields + wireFields + 1:
	default:
		return nil, false
	}
	f := fields{list: list}
	r := &eventhubs.ReceivedEvent{SequenceNumber: seq, Offset: take[string](&f)}
	r.EnqueuedTime = time.Unix(take[int64](&f), int64(take[int32](&f))).UTC()
	r.MessageID, r.CorrelationID, r.ContentType = take[string](&f), take[string](&f), take[string](&f)
	if f.list[0] == nil {
		f.list = f.list[1:]
	} else {
		key := take[string](&f)
		r.PartitionKey = &key
	}
	r.Properties = values.PlainMap(take[wire.Map](&f))
	length, atEnd := f.list[0].(int64)
	if atEnd {
		f.list = f.list[1:]
	} else {
		r.Body = takeBytes(&f)
	}
	if len(f.list) > 0 {
		r.Wire = &messaging.Wire{
			Header: takeBytes(&f), Annotations: takeBytes(&f), Properties: takeBytes(&f),
			ApplicationProperties: takeBytes(&f), Body: takeBytes(&f), Footer: takeBytes(&f),
		}
		if len(f.list) > 0 {
			r.Wire.DeliveryAnnotations = takeBytes(&f)
		}
	}
	if atEnd {
		if r.Wire == nil || length < 0 || length > int64(len(r.Wire.Body)) {
			return nil, false
		}
		r.Body = r.Wire.Body[int64(len(r.Wire.Body))-length:]
	}
	return r, !f.bad
}

// fields are the unread rest of a list.
type fields struct {
	list wire.List
	bad  bool
}

func take[T any](f *fields) T {
	v, ok := f.list[0].(T)
	f.bad = f.bad || !ok
	f.list = f.list[1:]
	return v
}

// takeBytes is take for bytes, of which none are nil.
func takeBytes(f *fields) []byte {
	if f.list[0] == nil {
		f.list = f.list[1:]
		return nil
	}
	if b := take[[]byte](f); len(b) > 0 {
		return append([]byte(nil), b...)
	}
	return nil
}

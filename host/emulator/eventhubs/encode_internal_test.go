package eventhubs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// The form in the store of an event with a body at the end of its section, and forms
// that are refused.
func TestBodyIsKeptOnce(t *testing.T) {
	t.Parallel()
	e := &eventhubs.ReceivedEvent{
		Event:  eventhubs.Event{Body: make([]byte, 1000), Wire: &messaging.Wire{Body: append([]byte("section"), make([]byte, 1000)...)}},
		Offset: "0", EnqueuedTime: time.Unix(1, 2).UTC(), SequenceNumber: 7,
	}
	b := appendEvent([]byte{eventFormat}, e)
	if len(b) > 1100 {
		t.Errorf("an event of 1,000 bytes takes %d", len(b))
	}
	got, ok := decodeEvent(b, 7)
	if diff := cmp.Diff(e, got); diff != "" || !ok {
		t.Errorf("%v, event (-want +got):\n%s", ok, diff)
	}
	for _, length := range []int64{-1, 1008} {
		d := wire.NewDecoder(b[1:])
		list, _ := d.Any().(wire.List)
		list[plainFields-1] = length
		if _, ok := decodeEvent(wire.AppendAny([]byte{eventFormat}, list), 7); ok {
			t.Errorf("a body of %d bytes in a section of 1007 was read", length)
		}
		if _, ok := decodeEvent(wire.AppendAny([]byte{eventFormat}, list[:plainFields]), 7); ok {
			t.Errorf("a body of %d bytes without a section was read", length)
		}
	}
}

// Delivery annotations are kept; an event without them has the form that it always had.
func TestDeliveryAnnotationsAreKept(t *testing.T) {
	t.Parallel()
	e := &eventhubs.ReceivedEvent{Event: eventhubs.Event{Wire: &messaging.Wire{Body: []byte("b"), DeliveryAnnotations: []byte("d")}}, EnqueuedTime: time.Unix(1, 0).UTC(), SequenceNumber: 7}
	got, ok := decodeEvent(appendEvent([]byte{eventFormat}, e), 7)
	if diff := cmp.Diff(e, got); diff != "" || !ok {
		t.Errorf("%v, event (-want +got):\n%s", ok, diff)
	}
	e.Wire.DeliveryAnnotations = nil
	d := wire.NewDecoder(appendEvent(nil, e))
	if list, _ := d.Any().(wire.List); len(list) != plainFields+wireFields {
		t.Errorf("%d fields without delivery annotations", len(list))
	}
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add(appendEvent([]byte{eventFormat}, &eventhubs.ReceivedEvent{Event: eventhubs.Event{Wire: &messaging.Wire{Body: []byte("b")}, Body: []byte("b")}}))
	f.Add(appendEvent([]byte{eventFormat}, &eventhubs.ReceivedEvent{}))
	f.Fuzz(func(_ *testing.T, b []byte) { decodeEvent(b, 1) })
}

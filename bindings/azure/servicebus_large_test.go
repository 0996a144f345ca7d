package azure_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// An answer of $management holds as many messages as fit into the link's maximum size;
// a message of the entity's maximum size does. The caller asks for the rest again.
func TestAnswersThatFit(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.queue(t, servicebus.Queue{Name: "q"})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const messages, size = 5, 200 << 10
	bus := connectBus(t, d)
	for i := range messages {
		if err := bus.Send(ctx, "q", &servicebus.Message{Body: bytes.Repeat([]byte{byte(i)}, size)}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := bus.Receiver(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.Background())
	next, seen := int64(0), 0
	var numbers []int64
	for seen < messages {
		page, err := r.Peek(ctx, next, messages)
		if err != nil || len(page) == 0 {
			t.Fatalf("Peek from %d = %d messages, %v; want some", next, len(page), err)
		}
		for _, m := range page {
			if len(m.Body) != size {
				t.Errorf("peeked %d bytes, want %d", len(m.Body), size)
			}
			numbers = append(numbers, m.SequenceNumber)
		}
		seen += len(page)
		next = page[len(page)-1].SequenceNumber + 1
	}
	for range messages {
		got, err := r.Receive(ctx, 1, busPatience)
		if err != nil || len(got) != 1 {
			t.Fatalf("Receive = %d messages, %v", len(got), err)
		}
		if err := r.Defer(ctx, got[0], nil); err != nil {
			t.Fatal(err)
		}
	}
	for len(numbers) > 0 {
		got, err := r.ReceiveDeferred(ctx, numbers...)
		if err != nil || len(got) == 0 {
			t.Fatalf("ReceiveDeferred of %d = %d messages, %v; want some", len(numbers), len(got), err)
		}
		for i, m := range got {
			if m.SequenceNumber != numbers[i] {
				t.Errorf("got number %d, want %d", m.SequenceNumber, numbers[i])
			}
			if err := r.Complete(ctx, m); err != nil {
				t.Error(err)
			}
		}
		numbers = numbers[len(got):]
	}
}

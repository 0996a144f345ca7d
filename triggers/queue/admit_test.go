package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
)

// A listener takes no more than it is admitted, and gives back what led to no
// run: an empty poll, a body that cannot be decoded, a message past its limit.
func TestAdmission(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(nil, succeed)
	b.clk.Advance(time.Minute) // polls that find nothing
	b.clk.Do("limit", func() { b.sink.Limit(3) })
	b.put("not base64!")
	b.clk.Advance(time.Minute)
	if got := b.sink.Room(); got != 3 {
		t.Errorf("%d deliveries are left of 3 after an undecodable body, want 3", got)
	}
	for i := range 5 {
		b.put(queue.Base64.Encode([]byte(fmt.Sprint(i))))
	}
	b.clk.Advance(time.Minute)
	if got := len(b.sink.Handled()); got != 3 {
		t.Errorf("%d deliveries ran, want the 3 admitted", got)
	}
	b.clk.Do("limit", func() { b.sink.Limit(100) })
	b.clk.Advance(time.Minute)
	if got, room := len(b.sink.Handled()), b.sink.Room(); got != 5 || room != 98 {
		t.Errorf("%d deliveries ran and %d are left, want 5 and 98", got, room)
	}
}

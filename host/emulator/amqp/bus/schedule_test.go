package bus_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestScheduleAllOrNone: a request with messages for several times, one of which is refused,
// schedules none of them, also where the time of one has come already.
func TestScheduleAllOrNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	message := func(id string, at time.Time) map[string]any {
		m := goamqp.NewMessage([]byte("x"))
		m.Properties = &goamqp.MessageProperties{MessageID: id}
		m.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": at}
		if at.IsZero() {
			m.Annotations = nil
		}
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{"message": b, "message-id": id}
	}
	now := w.clk.Now()
	good := []any{message("now", time.Time{}), message("past", now.Add(-time.Hour)), message("later", now.Add(2*time.Hour)), message("soon", now.Add(time.Hour))}
	bad := append(slices.Clone(good), message(strings.Repeat("x", 129), now.Add(3*time.Hour)))
	if p := w.manage(t, ctx, "q", "com.microsoft:schedule-message", map[string]any{"messages": bad}).ApplicationProperties; p["statusCode"] != int32(400) {
		t.Errorf("with one that is refused: %v", p)
	}
	if got := w.counts(t, "q"); got.Total() != 0 {
		t.Errorf("after a refused request: %+v", got)
	}
	answer := w.manage(t, ctx, "q", "com.microsoft:schedule-message", map[string]any{"messages": good})
	body, _ := answer.Value.(map[string]any)
	if numbers, _ := body["sequence-numbers"].([]int64); len(numbers) != 4 || !slices.IsSorted(numbers) {
		t.Errorf("schedule: %v %v", answer.ApplicationProperties, answer.Value)
	}
	if got := w.counts(t, "q"); got.Active != 2 || got.Scheduled != 2 {
		t.Errorf("scheduled: %+v, want 2 active and 2 scheduled", got)
	}
}

package servicebus_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// scheduled schedules a message in the transaction.
func (t *begun) scheduled(entity, id string, in time.Duration) {
	t.Helper()
	t.does(nil, func(ctx context.Context) error {
		_, err := t.ScheduleEach(ctx, entity, false, &servicebusapi.Message{MessageID: id, ScheduledEnqueueTime: t.clk.Now().Add(in)})
		return err
	})
}

// A lock that would have ended while its transaction was open does not end in the
// middle of the commit, where a scheduled message has the times of its queue come.
func TestTransactionHoldsLocksToItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action servicebusapi.Action
		want   []string
	}{
		"complete":    {servicebusapi.Complete, []string{"q later active 0"}},
		"abandon":     {servicebusapi.Abandon, []string{"q a active 1", "q later active 0"}},
		"dead letter": {servicebusapi.DeadLetter, []string{"q later active 0", "q/$DeadLetterQueue a active 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "q", LockDuration: 30 * time.Second, MaxDeliveryCount: 3})
			b.send("q", "a")
			m := b.receive(b.receiver("q", nil), 1)[0]
			tx := b.begin()
			tx.scheduled("q", "later", 10*time.Second)
			tx.settles(nil, "q", c.action, m)
			b.clk.Advance(time.Minute)
			tx.commits(nil)
			if diff := cmp.Diff(c.want, b.there("q", "q/$DeadLetterQueue")); diff != "" {
				t.Errorf("after the commit (-want +got):\n%s", diff)
			}
		})
	}
}

// The entity gives the sequence numbers of scheduled messages: in another entity of that
// name they may be taken.
func TestTransactionOfAReplacedEntity(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	tx := b.begin()
	tx.scheduled("q", "later", time.Hour)
	b.do(func(ctx context.Context) error { return b.ns.DeleteQueue(ctx, "q") })
	b.queue(servicebusapi.Queue{Name: "q"})
	b.send("q", "a")
	tx.commits(messaging.ErrRolledBack)
	if diff := cmp.Diff([]string{"q a active 0"}, b.there("q")); diff != "" {
		t.Errorf("after the commit (-want +got):\n%s", diff)
	}
}

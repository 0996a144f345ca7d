package hosttest_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A message that goes to poison without a run is received before it is moved,
// in the journal too (spec host-and-retry 0.3, spec storage 4.1).
func TestReceivedBeforePoisonCopy(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: alwaysFails()})
	h.SendRaw("orders", "no base64!")
	h.AwaitSettled("Orders", triggers.Undecodable)
	var kinds []journal.Kind
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Source == "orders" || r.Source == "orders-poison" }) {
		kinds = append(kinds, r.Kind)
	}
	want := []journal.Kind{journal.Enqueued, journal.Received, journal.Enqueued, journal.Settled}
	if len(kinds) != len(want) {
		t.Fatalf("records %v, want %v", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Fatalf("records %v, want %v", kinds, want)
		}
	}
}

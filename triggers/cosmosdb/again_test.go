package cosmosdb_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
)

// A listener begins anew beside a batch in work. It reads the other range at once, and
// the batch's range when the batch has ended: the changes of a range keep their order.
func TestBeginsAgainBesideABatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	missed := false
	b.faults = func(p cosmos.FaultPoint) error {
		if missed && p.Op == "Changes" && !p.After { // the reader of the batch's range does not ask
			missed = false
			return bindings.ErrNotFound
		}
		return nil
	}
	var log []string
	i := b.run(&cosmosdb.Options{StartFromBeginning: true, WakeUp: true, FeedPollDelay: time.Minute}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		log = append(log, fmt.Sprintf("%s %s", b.clk.Now().Sub(start), idsOf(ev)))
		if idsOf(ev) == "0" {
			if err := b.clk.Sleep(ctx, time.Hour); err != nil {
				t.Error("the token of the batch has ended")
			}
		}
		return triggers.Result{Attempts: 1}
	})
	b.clk.Do("again", i.sink.Again)
	b.put("0")
	missed = true
	b.put("1", "2", "3") // 3 is in the range of 0
	b.clk.Advance(2 * time.Hour)
	want := []string{"0s 0", "1s 1,2", "1h0m2s 3"}
	if diff := cmp.Diff(log, want); diff != "" {
		t.Errorf("batches (-got +want):\n%s", diff)
	}
	if n := len(i.sink.Failures()); n != 1 {
		t.Errorf("failed %d times with a batch in work, want once", n)
	}
	if diff := cmp.Diff(i.decisions(), []triggers.Decision{triggers.Checkpointed, triggers.Checkpointed, triggers.Checkpointed}); diff != "" {
		t.Errorf("decisions (-got +want):\n%s", diff)
	}
}

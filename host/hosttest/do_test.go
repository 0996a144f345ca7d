package hosttest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/triggers"
)

// A test does what a command does: deliveries that an operation starts have run when it
// returns, and one that looks after the clock moves it.
func TestDo(t *testing.T) {
	t.Parallel()
	broken := true
	app := functions.New()
	app.Queue("Ship", "parcels", func(context.Context, functions.QueueMessage) error {
		if broken {
			return errors.New("no van")
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("parcels", "7")
	h.AwaitSettled("Ship", triggers.Poisoned)
	broken = false
	if done := hosttest.Do(h, queues.RedriveQueue{Queue: "parcels-poison"}); done.To != "parcels" || done.Moved != 1 {
		t.Errorf("redriven: %+v", done)
	}
	h.WantDeliveries("Ship", 1, 1, 1, 1, 1, 1)
	h.WantQueue("parcels-poison")

	before := h.Elapsed()
	hosttest.Do(h, run.AdvanceClock{By: time.Hour})
	h.WantElapsed(before + time.Hour)

	if _, refused := hosttest.Try(h, queues.RedriveQueue{Queue: "parcels-poison", ID: "none"}); refused == nil || refused.Status != http.StatusNotFound {
		t.Errorf("a message that is not there: %+v", refused)
	}
}

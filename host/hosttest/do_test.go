package hosttest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
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

// An operation with values that no request could have is refused, as a request is.
func TestTryOfWhatCannotBe(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Ship", "parcels", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	begun := h.Elapsed()
	for _, row := range []struct {
		try    func() *ops.Error
		status int
		text   string
	}{
		{tried(h, run.AdvanceClock{By: -time.Hour}), http.StatusBadRequest, `by "-1h0m0s": want a duration above 0 and at most 8784h`},
		{tried(h, run.AdvanceClock{}), http.StatusBadRequest, `by "": want a duration above 0 and at most 8784h`},
		{tried(h, run.Explain{Last: -1}), http.StatusBadRequest, "last must be a number of 1 or more"},
		{tried(h, run.Explain{}), http.StatusBadRequest, "last must be a number of 1 or more"},
		{tried(h, queues.PeekQueue{Queue: "parcels", Max: -1}), http.StatusBadRequest, "max must be a number of 1 or more"},
		{tried(h, servicebus.ExpireLocks{Path: "letters", Sequence: []int64{1, -1}}), http.StatusBadRequest, `sequence "-1": want a sequence number`},
		{tried(h, run.LoadState{}), http.StatusBadRequest, "the body is missing"},
		{tried(h, run.CrashAt{Function: "Ship", Point: "beforeSettle", Nth: 1}), http.StatusNotFound, "the host of a test does not have this operation"},
		{tried(h, run.Stop{}), http.StatusNotFound, "the host of a test does not have this operation"},
	} {
		if got := row.try(); got == nil || got.Status != row.status || got.Text != row.text {
			t.Errorf("refused with %+v, want %d %s", got, row.status, row.text)
		}
	}
	h.WantElapsed(begun)
	hosttest.Do(h, run.Explain{Last: 1})
}

func tried[Out any](h *hosttest.Host, in ops.Operation[Out]) func() *ops.Error {
	return func() (refused *ops.Error) {
		_, refused = hosttest.Try(h, in)
		return refused
	}
}

package served_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A new kind is one package and one line: the toy runs, is retried, reloaded and called
// by hand, and nothing else of the host knows it.
func TestToyKind(t *testing.T) {
	t.Parallel()
	var heard []string
	app := functions.New()
	app.Handle("Hear", func(_ context.Context, tr *functions.Trigger) error {
		heard = append(heard, tr.Input.Text())
		if len(heard) == 1 {
			return errors.New("too loud")
		}
		return nil
	}, functions.Binding(`{"type":"toyTrigger","name":"sound","tone":"ding"}`), functions.FixedDelay(2, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Advance(2*time.Minute + 2*time.Second)
	h.WantAttempts("Hear", 3)
	h.WantSettled("Hear", triggers.Recorded, triggers.Recorded)
	if res := h.Call("Hear", "dong"); res.Err != nil {
		t.Errorf("call: %v", res.Err)
	}
	if got := heard[len(heard)-1]; heard[0] != "ding" || got != "dong" {
		t.Errorf("heard %q", heard)
	}
}

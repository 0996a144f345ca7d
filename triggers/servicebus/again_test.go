package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	broker "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// A listener that begins anew beside deliveries in work keeps its limits: those deliveries
// count.
func TestLimitsHoldWhenBegunAgain(t *testing.T) {
	t.Parallel()
	sessions := servicebusapi.Queue{RequiresSession: true}
	for _, test := range []struct {
		name  string
		queue servicebusapi.Queue
		opts  servicebus.Options
		want  []string // when deliveries begin
	}{
		{"calls", servicebusapi.Queue{}, servicebus.Options{MaxConcurrentCalls: 3}, []string{"0s", "10s", "11s", "10m0s"}},
		{"sessions", sessions, servicebus.Options{Sessions: true, MaxConcurrentSessions: 2, SessionIdleTimeout: time.Second}, []string{"0s", "11s", "10m0s", "10m12s"}},
		// Only the delivery's own session may be worked on.
		{"one session", sessions, servicebus.Options{Sessions: true, MaxConcurrentSessions: 1, MaxConcurrentCallsPerSession: 2, SessionIdleTimeout: time.Second}, []string{"0s", "10m0s", "20m0s", "30m0s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.queue)
			failing := false
			b.faults = func(p broker.FaultPoint) error {
				if failing && !p.After && (p.Op == "Receive" || p.Op == "AcceptSession") {
					failing = false
					return errors.New("not authorized")
				}
				return nil
			}
			send := func(body string) {
				if test.queue.RequiresSession {
					b.sendTo(body, body)
				} else {
					b.send(body)
				}
			}
			var begun []string
			test.opts.MaxAutoLockRenewal = -1
			b.start(&test.opts, func(ctx context.Context, ev *triggers.Event) triggers.Result {
				begun = append(begun, b.clk.Now().Sub(start).String())
				return b.after(10*time.Minute, succeed)(ctx, ev)
			})
			b.clk.Do("again", b.sink.Again)
			send("a")
			b.clk.Advance(10 * time.Second)
			failing = true
			send("b")
			send("c")
			send("d")
			b.clk.Advance(time.Hour)
			if diff := cmp.Diff(begun, test.want); diff != "" {
				t.Errorf("deliveries began (-got +want):\n%s", diff)
			}
			if n := len(b.sink.Failures()); n != 1 {
				t.Errorf("failed %d times with a delivery in work, want once", n)
			}
		})
	}
}

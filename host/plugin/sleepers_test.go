//clock:outside kills real processes

package plugin_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

// watchedSleep is a clock that tells when somebody begins to sleep.
type watchedSleep struct {
	clock.Clock
	begun func()
}

func (c watchedSleep) Sleep(ctx context.Context, d time.Duration) error {
	c.begun()
	return c.Clock.Sleep(ctx, d)
}

// A call that sleeps fails at once when its process dies, and the next call finds a
// new process.
func TestSleeperHearsOfCrash(t *testing.T) {
	t.Parallel()
	var pid int
	clk := watchedSleep{clock.System(), func() {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Error(err)
		}
	}}
	h := start(t, clk, process.Spec{OnStart: func(p process.Process) { pid = p.PID }})
	defer func() { _ = h.Close(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := h.Invoke(ctx, request("Sleep", "1h"), nolog)
	if exit := (*process.ExitError)(nil); !errors.As(err, &exit) || ctx.Err() != nil {
		t.Errorf("Invoke: %v, context %v; want an exit, and at once", err, ctx.Err())
	}
	if resp, err := h.Invoke(ctx, request("Nothing", ""), nolog); err != nil || resp.Status != call.Succeeded {
		t.Errorf("the next call: %+v, %v", resp, err)
	}
}

// All calls of a process fail when it ends, also calls that sleep in the clock's
// time, and for every cause of the end.
func TestSleeperHearsOfOthers(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"Exit", "Hang", "Close"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			under(t, func(v *clock.Virtual) {
				begin := v.Now()
				h := start(t, v, process.Spec{Grace: time.Millisecond})
				g := clock.NewGroup(v, 0)
				for range 3 {
					g.Go("sleeper", func() {
						resp, err := h.Invoke(context.Background(), request("Sleep", "1h"), nolog)
						if exit := (*process.ExitError)(nil); !errors.As(err, &exit) {
							t.Errorf("the sleeper: %+v, %v; want an exit", resp, err)
						}
						if d := v.Now().Sub(begin); d != time.Minute {
							t.Errorf("the sleeper failed after %v, want 1m0s", d)
						}
					})
				}
				if err := v.Sleep(context.Background(), time.Minute); err != nil {
					t.Error(err)
				}
				ctx, cancel := v.WithCancel(context.Background())
				switch end {
				case "Close":
					closeHandlers(t, h)
				default:
					if resp, err := h.Invoke(ctx, request(end, "3"), func(call.Log) { cancel() }); err == nil {
						t.Errorf("%s: %+v, want an error", end, resp)
					}
				}
				cancel()
				g.Wait()
				closeHandlers(t, h)
			})
		})
	}
}

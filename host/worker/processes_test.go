//clock:outside real processes

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// crew is what a worker of several processes says of them.
type crew struct {
	started chan time.Time // by the clock

	mu         sync.Mutex // guards:
	restarts   []time.Duration
	terminated int
	stopped    []error
}

// interval is the time between two starts.
const interval = 50 * time.Millisecond

func (c *crew) join(b *bench, s *worker.Spec) {
	c.started = make(chan time.Time, 100)
	s.Count, s.StartInterval = 3, interval
	s.OnStart = func(process.Process) { c.started <- b.clk.Now() }
	s.OnExit = func(x process.Exit) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.restarts = append(c.restarts, x.Restart)
	}
	s.Output = func(l process.Line) {
		if l.Text == "terminating" {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.terminated++
		}
	}
}

// next waits for the start of a process.
func (c *crew) next(b *bench) (at time.Time) {
	b.clk.Outside(context.Background(), "wait for a process", func() { at = <-c.started })
	return at
}

// full waits until all processes of a worker that has loaded functions run.
func (c *crew) full(b *bench) {
	b.load()
	c.next(b)
	c.next(b)
	_ = b.clk.Sleep(context.Background(), interval)
	c.next(b)
}

// pids are the processes that answer the next calls.
func (b *bench) pids(calls int) (list []string) {
	for i := range calls {
		resp, _, err := b.invoke("PID", bindings.Value{}, func(r *call.Request) { r.InvocationID = fmt.Sprint("pid ", i) })
		if err != nil || resp.Status != call.Succeeded {
			b.Errorf("a process does not answer: %+v, %v", resp, err)
		}
		list = append(list, resp.Outputs["out"].Text)
	}
	return list
}

func distinct(list []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(list))))
}

// Several processes start one after the other, have loaded the functions, are called in
// turn, and all end with the worker (spec workers 3.3, 7).
func TestProcesses(t *testing.T) {
	t.Parallel()
	crews := sync.Map{}
	join := func(b *bench, s *worker.Spec) {
		c := &crew{}
		crews.Store(b, c)
		c.join(b, s)
		b.Cleanup(func() {
			if c.terminated != 3 {
				b.Errorf("%d processes were told to end, want 3", c.terminated)
			}
		})
	}
	onWith(t, "", 0, join, func(b *bench) {
		found, _ := crews.Load(b)
		c := found.(*crew)
		if _, err := b.w.Functions(context.Background()); err != nil {
			b.Error(err)
		}
		list := append(functions(), worker.Function{Name: "Plain", Bindings: []worker.Binding{{Name: "in", Type: "queueTrigger"}}})
		if _, err := b.w.Load(context.Background(), list); err != nil {
			b.Error(err)
		}
		first, second := c.next(b), c.next(b)
		if err := b.clk.Sleep(context.Background(), interval); err != nil {
			b.Error(err)
		}
		third := c.next(b)
		if pause := third.Sub(second); second.Before(first) || pause < interval {
			b.Errorf("starts at %v, %v, %v; want an interval of %v before the last", first, second, third, interval)
		}
		pids := b.pids(6)
		if distinct(pids) != 3 || !slices.Equal(pids[:3], pids[3:]) {
			b.Errorf("calls went to %v, want three processes in turn", pids)
		}
		for range 3 { // the identifiers that the first process gave are those of all
			if resp, _, err := b.invoke("Plain", bindings.Value{}, nil); err != nil || resp.Status != call.Succeeded {
				b.Errorf("%+v, %v", resp, err)
			}
		}
	})
}

// The end of one process fails its own calls only, and another one takes its place.
func TestProcessExit(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"Exit", "Hang"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			crews := sync.Map{}
			onWith(t, "", 100*time.Millisecond, func(b *bench, s *worker.Spec) {
				c := &crew{}
				crews.Store(b, c)
				c.join(b, s)
			}, func(b *bench) {
				found, _ := crews.Load(b)
				c := found.(*crew)
				c.full(b)
				other, end := b.clk.WithCancel(context.Background())
				group := clock.NewGroup(b.clk, 0)
				hanging := clock.NewCond(b.clk, &b.mu)
				hangs := false
				var err error
				group.Go("another call", func() {
					_, err = b.w.Invoke(other, &call.Request{InvocationID: "other", Function: "Hang", Inputs: []call.Input{{Name: "in"}}}, func(call.Log) {
						b.mu.Lock()
						hangs = true
						hanging.Broadcast()
						b.mu.Unlock()
					})
				})
				b.mu.Lock()
				for !hangs {
					_ = hanging.Wait(context.Background())
				}
				b.mu.Unlock()
				ctx, cancel := b.clk.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				if how == "Exit" {
					ctx = context.Background()
				}
				_, failure := b.w.Invoke(ctx, &call.Request{InvocationID: "ends", Function: how, Inputs: []call.Input{{Name: "in"}}}, func(call.Log) {})
				if _, exit := errors.AsType[*process.ExitError](failure); exit != (how == "Exit") || failure == nil {
					b.Errorf("got %v", failure)
				}
				c.next(b)
				if pids := b.pids(3); distinct(pids) != 3 {
					b.Errorf("after the end of one process calls go to %v", pids)
				}
				if err != nil {
					b.Errorf("a call in another process failed: %v", err)
				}
				end()
				group.Wait()
			})
		})
	}
}

// Processes have one budget of crashes, three for each; starts in the place of others keep
// their distance. The host is stopped when the last of them is gone (spec workers 9).
func TestProcessBudget(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		interval time.Duration
		stop     bool
		want     []time.Duration
	}{
		"budget":   {0, false, append(make([]time.Duration, 8), time.Second, 2*time.Second)},
		"interval": {10 * time.Second, false, []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}},
		"stop":     {0, true, append(make([]time.Duration, 8), -1, -1, -1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})
			defer v.Close()
			v.Auto()
			b := &bench{T: t, clk: v}
			c := &crew{}
			s := spec("grpc")
			c.join(b, &s)
			s.RestartInterval = tt.interval
			if tt.stop {
				s.StopHost = func(err error) { c.stopped = append(c.stopped, err) }
			}
			b.live(s, func() {
				c.full(b)
				for range tt.want {
					if _, _, err := b.invoke("Exit", bindings.Value{}, nil); err == nil {
						t.Error("the process did not end")
					}
				}
				if _, _, err := b.invoke("PID", bindings.Value{}, nil); tt.stop && !slices.Equal(c.stopped, []error{err}) || !tt.stop && (err != nil || c.stopped != nil) {
					t.Errorf("then: %v, the host was stopped with %v", err, c.stopped)
				}
				if diff := cmp.Diff(tt.want, whole(c.restarts)); diff != "" {
					t.Errorf("pauses before the next starts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// whole are pauses in whole seconds: the calls take a moment.
func whole(pauses []time.Duration) (list []time.Duration) {
	for _, d := range pauses {
		if d > 0 { // none is -1
			d = d.Round(time.Second)
		}
		list = append(list, d)
	}
	return list
}

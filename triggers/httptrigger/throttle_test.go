package httptrigger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// request lets one request through the throttle; it runs for d.
func (s *stage) request(th *httptrigger.Throttle, name string, d time.Duration) context.CancelFunc {
	var cancel context.CancelFunc
	s.clk.Inside("request", func() {
		var ctx context.Context
		ctx, cancel = s.clk.WithCancel(context.Background())
		s.group.Go(name, func() {
			defer cancel()
			if err := th.Acquire(ctx); err != nil {
				s.note("%s: %v", name, err)
				return
			}
			defer th.Release()
			s.note("%s runs", name)
			_ = s.clk.Sleep(context.Background(), d)
		})
	})
	s.settle()
	return func() { s.clk.Inside("hang up", cancel); s.settle() }
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	const second = time.Second
	t.Run("no limits", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, virtual())
		th := httptrigger.NewThrottle(s.clk, -1, -1)
		for _, name := range []string{"a", "b", "c"} {
			s.request(th, name, second)
		}
		s.check(t, "0s a runs", "0s b runs", "0s c runs")
		s.v.Run(time.Hour)
	})
	t.Run("concurrent only: the rest waits in order", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, virtual())
		th := httptrigger.NewThrottle(s.clk, 1, -1)
		for _, name := range []string{"a", "b", "c"} {
			s.request(th, name, second)
		}
		s.v.Run(time.Hour)
		s.check(t, "0s a runs", "1s b runs", "2s c runs")
	})
	t.Run("outstanding counts running and waiting", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, virtual())
		th := httptrigger.NewThrottle(s.clk, 2, 3)
		for _, name := range []string{"a", "b", "c", "d"} {
			s.request(th, name, second)
		}
		s.check(t, "0s a runs", "0s b runs", "0s d: too many requests")
		s.v.Advance(second)
		s.request(th, "e", second)
		s.check(t, "1s c runs", "1s e runs")
		s.v.Run(time.Hour)
	})
	t.Run("outstanding only", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, virtual())
		th := httptrigger.NewThrottle(s.clk, -1, 1)
		s.request(th, "a", second)
		s.request(th, "b", second)
		s.v.Run(time.Hour)
		s.request(th, "c", second)
		s.check(t, "0s a runs", "0s b: too many requests", "1s c runs")
		s.v.Run(time.Hour)
	})
	t.Run("who hangs up leaves the queue", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, virtual())
		th := httptrigger.NewThrottle(s.clk, 1, 3)
		s.request(th, "a", second)
		hangUp := s.request(th, "b", second)
		s.request(th, "c", second)
		hangUp()
		s.v.Run(time.Hour)
		s.check(t, "0s a runs", "0s b: context canceled", "1s c runs")
	})
}

func TestThrottleOnSystemClock(t *testing.T) {
	t.Parallel()
	clk := clock.System()
	th := httptrigger.NewThrottle(clk, 2, -1)
	group := clock.NewGroup(clk, 0)
	for n := range 50 {
		group.Go("request", func() {
			ctx, cancel := clk.WithCancel(context.Background())
			defer cancel()
			if n%5 == 0 {
				cancel()
			}
			if err := th.Acquire(ctx); err == nil {
				th.Release()
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for range 2 {
		if err := th.Acquire(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	th.Release()
	th.Release()
}

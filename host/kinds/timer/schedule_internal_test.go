package timer

import (
	"context"
	"errors"
	"testing"
	"time"

	storageapi "github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/hostlock"
	"github.com/redeliver/redeliver/triggers/timer"
)

// The status of a timer is its lock's holder's: a host that has lost the lock without
// knowing it cannot overwrite what the next one wrote.
func TestLateWriterOfATimerStatus(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	storage := emulator.New(clk, nil)
	in := storage.Container(hostlock.Container)
	next := clk.Now().Truncate(time.Second).Add(time.Hour)
	write := func(ctx context.Context, s *schedule, minutes int) error {
		return s.SetStatus(ctx, timer.Status{Next: next.Add(time.Duration(minutes) * time.Minute)})
	}
	under := func(ctx context.Context, held *hostlock.Held) *schedule {
		s := &schedule{in: in, blob: in.Blob("timers/host1/Host.Functions.Tick/status"), held: held}
		if _, err := s.Status(ctx); err != nil {
			t.Error(err)
		}
		return s
	}
	lock := func() *hostlock.Lock { return hostlock.New(clk, in, "locks/host1/Tick", nil) }
	clk.Do("hosts", func() {
		ctx := context.Background()
		_ = lock().Hold(ctx, func(_ context.Context, held *hostlock.Held) error {
			first := under(ctx, held)
			if err := errors.Join(write(ctx, first, 1), write(ctx, first, 2)); err != nil {
				t.Error(err)
			}
			// Its lock ends, without a word to it.
			now := time.Duration(0)
			if _, err := in.Blob("locks/host1/Tick").BreakLease(ctx, &now, nil); err != nil {
				t.Error(err)
			}
			return lock().Hold(ctx, func(_ context.Context, held *hostlock.Held) error {
				second := under(ctx, held)
				if err := write(ctx, second, 3); err != nil {
					t.Error(err)
				}
				if err := write(ctx, first, 4); !errors.Is(err, storageapi.ErrLeaseLost) {
					t.Errorf("late write = %v, want ErrLeaseLost", err)
				}
				got, err := second.Status(ctx)
				if err != nil || !got.Next.Equal(next.Add(3*time.Minute)) {
					t.Errorf("status = %+v, %v; want the status of the lock's holder", got, err)
				}
				return nil
			})
		})
	})
}

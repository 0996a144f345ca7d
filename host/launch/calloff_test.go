//clock:outside waits for contexts

package launch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redeliver/redeliver/host/launch"
)

// A load ends with its caller or with the host, and what it has made then is discarded;
// later their ends mean nothing for it.
func TestLoad(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		during, after func(caller context.CancelFunc, of *launch.Loads)
		off           bool
	}{
		"nobody":         {},
		"caller":         {during: func(caller context.CancelFunc, _ *launch.Loads) { caller() }, off: true},
		"host":           {during: func(_ context.CancelFunc, of *launch.Loads) { of.CallOff() }, off: true},
		"caller, later":  {after: func(caller context.CancelFunc, _ *launch.Loads) { caller() }},
		"host, later":    {after: func(_ context.CancelFunc, of *launch.Loads) { of.CallOff() }},
		"both, at once":  {during: func(caller context.CancelFunc, of *launch.Loads) { caller(); of.CallOff() }, off: true},
		"host, twice":    {during: func(_ context.CancelFunc, of *launch.Loads) { of.CallOff(); of.CallOff() }, off: true},
		"both, but late": {after: func(caller context.CancelFunc, of *launch.Loads) { caller(); of.CallOff() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, caller := context.WithCancel(t.Context())
			defer caller()
			of := launch.NewLoads()
			var life context.Context
			discarded := 0
			made, err := launch.Load(ctx, of, func(ctx context.Context) (int, error) {
				life = ctx
				if tt.during != nil {
					tt.during(caller, of)
					<-life.Done()
				}
				return 7, nil
			}, func(int) { discarded++ })
			if tt.after != nil {
				tt.after(caller, of)
			}
			off := errors.Is(err, launch.ErrCalledOff)
			if off != tt.off || off != errors.Is(err, context.Canceled) || off == (made == 7) || off != (discarded == 1) || off != (life.Err() != nil) {
				t.Errorf("got %d, %v; %d discarded; its life: %v", made, err, discarded, life.Err())
			}
		})
	}
}

package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A clock sees its own contexts, with values or without, and no others.
func TestClockSeesItsContexts(t *testing.T) {
	t.Parallel()
	v, other := clock.NewVirtual(time.Unix(0, 0), nil), clock.NewVirtual(time.Unix(0, 0), nil)
	type key struct{}
	own, cancel := v.WithCancel(context.Background())
	defer cancel()
	real, cancelReal := context.WithCancel(own)
	defer cancelReal()
	for name, test := range map[string]struct {
		ctx  context.Context
		want bool
	}{
		"its own":            {own, true},
		"with a value":       {context.WithValue(own, key{}, 1), true},
		"background":         {context.Background(), false},
		"of the real world":  {real, false},
		"cut off":            {context.WithoutCancel(own), false},
		"of another's clock": {own, false},
	} {
		clk := v
		if name == "of another's clock" {
			clk = other
		}
		if got := clk.Sees(test.ctx); got != test.want {
			t.Errorf("a context %s: %v, want %v", name, got, test.want)
		}
	}
}

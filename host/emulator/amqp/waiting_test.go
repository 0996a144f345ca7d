package amqp_test

import (
	"context"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/amqp"
)

func TestWaiting(t *testing.T) {
	t.Parallel()
	var w amqp.Waiting
	// do reports whether a wait began, and whether its context has ended.
	do := func(during func()) (began, ended bool) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		w.Do(cancel, func() {
			began = true
			during()
		})
		return began, ctx.Err() != nil
	}
	for _, tt := range []struct {
		name                 string
		before, during       func()
		wantBegan, wantEnded bool
	}{
		{"nobody interrupts", func() {}, func() {}, true, false},
		{"interrupted before", w.Interrupt, func() {}, false, false},
		{"which counts once", func() {}, func() {}, true, false},
		{"interrupted twice before", func() { w.Interrupt(); w.Interrupt() }, func() {}, false, false},
		{"which counts once too", func() {}, func() {}, true, false},
		{"interrupted during", func() {}, w.Interrupt, true, true},
		{"which is over with it", func() {}, func() {}, true, false},
	} {
		tt.before()
		began, ended := do(tt.during)
		if began != tt.wantBegan || ended != tt.wantEnded {
			t.Errorf("%s: the wait began: %t, was cancelled: %t; want %t, %t", tt.name, began, ended, tt.wantBegan, tt.wantEnded)
		}
	}
}

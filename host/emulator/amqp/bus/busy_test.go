package bus_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// TestBusySettlement: a settlement that could not be done, because a disk is full, is not taken
// for done. The client for Go repeats it, and has an answer on its link for the end of the
// delivery; so the link ends, and the delivery is settled over another.
func TestBusySettlement(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int32]int64{1: 0, 1000: 1} {
		var left atomic.Int32
		w := newWorld(t, &servicebus.Options{Fault: func(p servicebus.FaultPoint) error {
			if p.Op == "Complete" && !p.After && left.Add(-1) >= 0 {
				return fmt.Errorf("%w: no space left on device", bindings.ErrUnavailable)
			}
			return nil
		}}, nil)
		w.queue(t, servicebusapi.Queue{Name: "q"})
		ctx, c := w.client(t)
		send(t, ctx, c, "q", &azservicebus.Message{})
		r := receiverOf(t, c, "q", nil)
		m := receive(t, ctx, r)
		left.Store(failures)
		brief, cancel := context.WithTimeout(ctx, 500*time.Millisecond) // the client pauses for seconds before it asks again
		defer cancel()
		err := r.CompleteMessage(brief, m, nil)
		if got := w.counts(t, "q").Active; got != want || (err == nil) != (want == 0) {
			t.Errorf("%d failures: CompleteMessage = %v, and %d messages are there, want %d", failures, err, got, want)
		}
		var lost *azservicebus.Error
		if errors.As(err, &lost) && lost.Code == azservicebus.CodeLockLost {
			t.Errorf("%d failures: the lock is said to be lost: %v", failures, err)
		}
	}
}

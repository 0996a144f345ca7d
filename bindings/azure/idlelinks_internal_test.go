package azure

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// idling is a client whose link the service detaches when it was idle for ten minutes. It
// reports that as azservicebus does: neither a message nor an error.
type idling struct {
	sdkReceiver
	idle int // times
}

func (s *idling) ReceiveMessages(context.Context, int, *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error) {
	if s.idle == 0 {
		return []*azservicebus.ReceivedMessage{{Body: []byte("x")}}, nil
	}
	s.idle--
	<-time.After(10 * time.Minute)
	return nil, nil
}

// TestIdleLinksAreNoFailure: a receiver that waits for hours outlives any number of links
// that were detached because nothing came, and takes what comes then at once.
func TestIdleLinksAreNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 50
		r := newReceiver(&idling{idle: idle}, &ServiceBus{retries: 3}, servicebus.Path{Entity: "q"}, servicebus.ReceiveAndDelete)
		begun := time.Now()
		list, err := r.Receive(t.Context(), 1, messaging.Forever)
		if err != nil || len(list) != 1 {
			t.Fatalf("Receive = %d messages, %v, after %v", len(list), err, time.Since(begun))
		}
		if took := time.Since(begun); took > idle*(10*time.Minute+time.Second) {
			t.Errorf("the message was received after %v", took)
		}
	})
}

package azure

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// session implements servicebus.Session.
type session struct {
	*receiver
	link *azservicebus.SessionReceiver
}

var _ servicebus.Session = (*session)(nil)

func (s *session) SessionID() string { return s.link.SessionID() }

func (s *session) LockedUntil() time.Time { return s.link.LockedUntil().UTC() }

func (s *session) RenewSession(ctx context.Context) (time.Time, error) {
	if s.isClosed() {
		return time.Time{}, messaging.ErrClosed
	}
	err := s.call(ctx, messaging.ConditionSessionLockLost, func(ctx context.Context) error { return s.link.RenewSessionLock(ctx, nil) })
	if err != nil {
		return time.Time{}, err
	}
	return s.LockedUntil(), nil
}

func (s *session) State(ctx context.Context) (state []byte, err error) {
	if s.isClosed() {
		return nil, messaging.ErrClosed
	}
	err = s.call(ctx, messaging.ConditionSessionLockLost, func(ctx context.Context) (err error) {
		state, err = s.link.GetSessionState(ctx, nil)
		return err
	})
	if len(state) == 0 {
		state = nil // the client does not tell none from empty
	}
	return state, err
}

func (s *session) SetState(ctx context.Context, state []byte) error {
	if s.isClosed() {
		return messaging.ErrClosed
	}
	return s.call(ctx, messaging.ConditionSessionLockLost, func(ctx context.Context) error { return s.link.SetSessionState(ctx, state, nil) })
}

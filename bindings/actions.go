package bindings

import (
	"context"
	"errors"
	"time"
)

// ErrNotHeld: no message of the delivery has that lock, or it was settled before, or the
// delivery is not in that session.
var ErrNotHeld = errors.New("not found")

// Actions are what a handler does to the messages of its delivery, and to their session,
// while it runs. The listener does nothing more to a message that was settled so. A lock
// is named by its token as text, in any case. All methods may be called concurrently;
// without what they name, and after the delivery, they fail with ErrNotHeld. Any other
// failure is the service's, and the message is as held as before.
//
// Reference: spec workers-dotnet-java 1.11.
type Actions interface {
	// Settle ends the delivery of one message.
	Settle(ctx context.Context, lock string, how Disposition) error

	// Renew has the lock of one message last anew.
	Renew(ctx context.Context, lock string) error

	// SessionState returns the state of the session, nil when there is none.
	SessionState(ctx context.Context, session string) ([]byte, error)

	// SetSessionState replaces it; nil or an empty one clears it.
	SetSessionState(ctx context.Context, session string, state []byte) error

	// RenewSession has the lock of the session last anew, and returns its new end.
	RenewSession(ctx context.Context, session string) (time.Time, error)

	// ReleaseSession has no more messages of the session received; it is given free when
	// its deliveries in work have ended.
	ReleaseSession(ctx context.Context, session string) error
}

// Disposition says how a message is settled.
type Disposition struct {
	// Decision is a decision of the trigger's kind in the spelling of the journal.
	Decision string
	// Reason and Description accompany a dead-lettering; empty: none.
	Reason, Description string
	// Properties are merged into those of the message, unless it is completed.
	Properties map[string]any
}

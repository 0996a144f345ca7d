package bus

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// onSession runs f on the session that the client holds: a request speaks for the
// link that it names, or else for the links of its connection. A client that does
// not hold the session gets an error, and f has changed nothing (spec messaging
// 1.10).
func (m *management) onSession(r *request, session string, f func(hold) error) error {
	for _, h := range m.holds(r, session) {
		if err := f(h); !errors.Is(err, messaging.ErrSessionLockLost) && !errors.Is(err, messaging.ErrClosed) {
			return err
		}
	}
	if err := m.hasSessions(); err != nil {
		return err
	}
	return messaging.NewError(messaging.ConditionSessionLockLost, fmt.Sprintf("%s: the lock of session %q has ended, or is somebody else's", m.source, session))
}

// holds returns what the client has, or has had, of a session.
func (m *management) holds(r *request, session string) []hold {
	return slices.DeleteFunc(m.b.holders.find(m.at.connection, r.link), func(h hold) bool { return !h.is(m.source, session) })
}

// bySession reports whether the client has to hold the session that it names.
// Without sessions it need not.
func (m *management) bySession(r *request, session *string) bool {
	return session != nil && (len(m.holds(r, *session)) > 0 || m.hasSessions() == nil)
}

// hasSessions fails with ErrNotAllowed if the entity does not require sessions.
func (m *management) hasSessions() error {
	_, err := m.b.ns.Sessions(background, m.source, farFuture(), 0, 0)
	return err
}

func (m *management) renewSession(r *request) (int, wire.Map, error) {
	session := r.text("session-id")
	if r.err != nil {
		return 0, nil, r.err
	}
	var until time.Time
	err := m.onSession(r, session, func(h hold) (err error) {
		until, err = h.session.RenewSession(background)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return statusOK, wire.Map{{Key: "expiration", Value: wire.TimestampOf(until)}}, nil
}

func (m *management) sessionState(r *request) (int, wire.Map, error) {
	session := r.text("session-id")
	if r.err != nil {
		return 0, nil, r.err
	}
	var v any
	err := m.onSession(r, session, func(h hold) error {
		state, err := h.session.State(background)
		if state != nil {
			v = state
		}
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return statusOK, wire.Map{{Key: "session-state", Value: v}}, nil
}

func (m *management) setSessionState(r *request) (int, wire.Map, error) {
	session := r.text("session-id")
	v := r.args.Get("session-state")
	state, ok := v.([]byte)
	if !ok && v != nil {
		r.fail("session-state", v, "a binary or null")
	}
	if r.err != nil {
		return 0, nil, r.err
	}
	if r.txn == nil {
		return statusOK, nil, m.onSession(r, session, func(h hold) error { return h.session.SetState(background, state) })
	}
	return statusOK, nil, m.b.within(m.at, r.txn, func(t *ongoing) error {
		return m.onSession(r, session, func(h hold) error {
			// A refused step ends the transaction, and the next link may hold the session.
			if _, err := h.session.State(background); err != nil {
				return err
			}
			return t.SetState(background, h.session, state)
		})
	})
}

// farFuture as a time of change asks for the sessions that have messages or a state.
func farFuture() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

func (m *management) sessions(r *request) (int, wire.Map, error) {
	after := farFuture()
	if r.args.Get("last-updated-time") != nil {
		after = r.moment("last-updated-time")
	}
	skip, top := r.count("skip", 0), r.count("top", 100)
	if r.err != nil {
		return 0, nil, r.err
	}
	names, err := m.b.ns.Sessions(background, m.source, after, skip, top)
	if err != nil {
		return 0, nil, err
	}
	if len(names) == 0 {
		return statusNoContent, nil, nil
	}
	for i, name := range names {
		if !r.fits(i == 0, len(name)) {
			names = names[:i]
			break
		}
	}
	return statusOK, wire.Map{
		{Key: "skip", Value: int32(skip + len(names))},
		{Key: "sessions-ids", Value: wire.NewArray(names)},
	}, nil
}

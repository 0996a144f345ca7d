package bus

import (
	"time"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func (m *management) renewSession(r *request) (int, wire.Map, error) {
	session := r.text("session-id")
	if r.err != nil {
		return 0, nil, r.err
	}
	until, err := m.b.ns.RenewSession(background, m.source, session)
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
	state, err := m.b.ns.SessionState(background, m.source, session)
	if err != nil {
		return 0, nil, err
	}
	var v any
	if state != nil {
		v = state
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
	if ok && state == nil {
		state = []byte{}
	}
	return statusOK, nil, m.b.ns.SetSessionState(background, m.source, session, state)
}

// farFuture as a time of change asks for the sessions that have messages.
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

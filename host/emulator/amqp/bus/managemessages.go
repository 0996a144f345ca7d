package bus

import (
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func (m *management) renewLock(r *request) (int, wire.Map, error) {
	tokens := r.tokens("lock-tokens")
	if r.err != nil {
		return 0, nil, r.err
	}
	until, err := m.b.ns.RenewLocks(background, m.source, tokens...)
	if err != nil {
		return 0, nil, err
	}
	list := make([]wire.Timestamp, len(until))
	for i, t := range until {
		list[i] = wire.TimestampOf(t)
	}
	return statusOK, wire.Map{{Key: "expirations", Value: wire.NewArray(list)}}, nil
}

func (m *management) peek(r *request) (int, wire.Map, error) {
	from, n, session := r.integer("from-sequence-number"), r.count("message-count", 1), r.optionalText("session-id")
	omit, _ := r.args.Get("omit-message-body").(bool)
	if r.err != nil {
		return 0, nil, r.err
	}
	found, err := m.b.ns.Peek(background, m.source, session, from, n)
	if err != nil {
		return 0, nil, err
	}
	if len(found) == 0 {
		return statusNoContent, nil, nil
	}
	var list wire.List
	for i, msg := range found {
		if omit {
			msg = withoutBody(msg)
		}
		encoded := appendMessage(nil, msg)
		if !r.fits(i == 0, len(encoded)) {
			break
		}
		list = append(list, wire.Map{{Key: "message", Value: encoded}})
	}
	return statusOK, wire.Map{{Key: "messages", Value: list}}, nil
}

// errNothingDeleted is no failure: its status is 204, and clients look for the condition too.
//
// Source: @azure/service-bus 7.10.0-beta.2, managementClient.
var errNothingDeleted = messaging.NewError(messaging.ConditionMessageNotFound, "there was no message to delete")

func (m *management) deleteMessages(r *request) (int, wire.Map, error) {
	n, before, session := r.count("message-count", 0), r.moment("enqueued-time-utc"), r.optionalText("session-id")
	if r.err != nil {
		return 0, nil, r.err
	}
	deleted, err := m.b.ns.DeleteMessages(background, m.source, session, n, before)
	switch {
	case err != nil:
		return 0, nil, err
	case deleted == 0:
		return 0, nil, errNothingDeleted
	}
	return statusOK, wire.Map{{Key: "message-count", Value: int32(deleted)}}, nil
}

func withoutBody(m *servicebus.Received) *servicebus.Received {
	bare := *m
	bare.Body = nil
	if m.Wire != nil {
		w := *m.Wire
		w.Body = wire.AppendData(nil, nil)
		bare.Wire = &w
	}
	return &bare
}

func (m *management) receiveDeferred(r *request) (int, wire.Map, error) {
	numbers, session := r.numbers("sequence-numbers"), r.optionalText("session-id")
	opts := servicebus.ReceiverOptions{RealTime: true}
	switch mode := r.count("receiver-settle-mode", 1); {
	case r.err != nil:
		return 0, nil, r.err
	case mode == 0:
		opts.Mode = servicebus.ReceiveAndDelete
	case mode != 1:
		return 0, nil, argumentf("receiver-settle-mode %d: want 0 or 1", mode)
	}
	numbers, err := m.fitting(r, session, numbers)
	if err != nil {
		return 0, nil, err
	}
	found, err := m.deferredOf(r, session, opts, numbers)
	if err != nil {
		return 0, nil, err
	}
	list := make(wire.List, len(found))
	for i, msg := range found {
		list[i] = wire.Map{{Key: "lock-token", Value: wire.UUID(msg.LockToken)}, {Key: "message", Value: appendMessage(nil, msg)}}
	}
	return statusOK, wire.Map{{Key: "messages", Value: list}}, nil
}

// deferredOf receives for the holder of the session, where there are sessions.
func (m *management) deferredOf(r *request, session *string, opts servicebus.ReceiverOptions, numbers []int64) (found []*servicebus.Received, err error) {
	if !m.bySession(r, session) {
		return m.b.ns.ReceiveDeferred(background, m.source, session, opts, numbers...)
	}
	err = m.onSession(r, *session, func(h hold) (err error) {
		if h.mode == opts.Mode {
			found, err = h.session.ReceiveDeferred(background, numbers...)
			return err
		}
		if _, err = h.session.State(background); err == nil { // it is held
			found, err = m.b.ns.ReceiveDeferred(background, m.source, session, opts, numbers...)
		}
		return err
	})
	return found, err
}

// fitting returns the first of some messages, by number, as many as an answer
// holds: one that was received and is not told would be locked, or gone. Missing
// messages are left to receiving.
func (m *management) fitting(r *request, session *string, numbers []int64) ([]int64, error) {
	for i, number := range numbers {
		found, err := m.b.ns.Peek(background, m.source, session, number, 1)
		if err != nil {
			return nil, err
		}
		size := 0
		if len(found) > 0 && found[0].SequenceNumber == number {
			size = len(appendMessage(nil, found[0]))
		}
		if !r.fits(i == 0, size) {
			return numbers[:i], nil
		}
	}
	return numbers, nil
}

func (m *management) updateDisposition(r *request) (int, wire.Map, error) {
	status, tokens := r.text("disposition-status"), r.tokens("lock-tokens")
	reason, description := r.optionalText("deadletter-reason"), r.optionalText("deadletter-description")
	how := servicebus.Settlement{SessionID: r.optionalText("session-id")}
	if r.err != nil {
		return 0, nil, r.err
	}
	if properties, ok := r.args.Get("properties-to-modify").(wire.Map); ok {
		how.Properties = values.PlainMap(properties)
	}
	switch status {
	case "completed":
		how.Action = servicebus.Complete
	case "abandoned":
		how.Action = servicebus.Abandon
	case "defered": // so it is spelt
		how.Action = servicebus.Defer
	case "suspended":
		how.Action = servicebus.DeadLetter
		if reason != nil {
			how.Reason = *reason
		}
		if description != nil {
			how.Description = *description
		}
	default:
		return 0, nil, argumentf("disposition-status %q: want completed, abandoned, defered or suspended", status)
	}
	if r.txn != nil {
		return statusOK, nil, m.b.within(m.at, r.txn, func(t *ongoing) error { return t.Settle(background, m.source, how, tokens...) })
	}
	if !m.bySession(r, how.SessionID) {
		return statusOK, nil, m.b.ns.Settle(background, m.source, how, tokens...)
	}
	return statusOK, nil, m.onSession(r, *how.SessionID, func(h hold) error {
		steps := make([]servicebus.Disposition, len(tokens))
		for i, token := range tokens {
			steps[i] = servicebus.Disposition{LockToken: token, Settlement: how}
		}
		for _, err := range m.b.ns.SettleEach(background, m.source, h.session, steps) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *management) schedule(r *request) (int, wire.Map, error) {
	var messages []*servicebus.Message
	var bad error
	r.each("messages", func(v any) bool {
		entry, _ := v.(wire.Map)
		encoded, ok := entry.Get("message").([]byte)
		if !ok {
			return false
		}
		msg, err := decodeMessage(encoded)
		if err != nil {
			bad = argumentf("message: %v", err)
			return true
		}
		messages = append(messages, msg)
		return true
	}, "a list of maps with a message")
	switch {
	case r.err != nil:
		return 0, nil, r.err
	case bad != nil:
		return 0, nil, bad
	}
	var numbers []int64
	var err error
	if r.txn != nil {
		err = m.b.within(m.at, r.txn, func(t *ongoing) error {
			numbers, err = t.ScheduleEach(background, m.source, t.shared(m.at), messages...)
			return err
		})
	} else {
		numbers, err = m.b.ns.ScheduleEach(background, m.source, messages...)
	}
	if err != nil {
		return 0, nil, err
	}
	return statusOK, wire.Map{{Key: "sequence-numbers", Value: wire.NewArray(numbers)}}, nil
}

func (m *management) cancelScheduled(r *request) (int, wire.Map, error) {
	numbers := r.numbers("sequence-numbers")
	if r.err != nil {
		return 0, nil, r.err
	}
	if r.txn != nil {
		return statusOK, nil, m.b.within(m.at, r.txn, func(t *ongoing) error {
			return t.CancelScheduled(background, m.source, t.shared(m.at), numbers...)
		})
	}
	return statusOK, nil, m.b.ns.CancelScheduled(background, m.source, numbers...)
}

package bus

import (
	"errors"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// management is the $management node of an entity.
type management struct {
	b      *Backend
	path   servicebus.Path
	source string

	at place
}

// Close implements amqp.Node.
func (*management) Close(bool) {}

// operation is one operation: it returns the status and the body of the answer. An error
// has its own status.
type operation func(m *management, r *request) (status int, body wire.Map, err error)

// operationOf is the table of operations (spec messaging 3.7). The service
// itself mixes the spellings of arguments and results.
func operationOf(name string) operation {
	switch name {
	case "com.microsoft:renew-lock":
		return (*management).renewLock
	case "com.microsoft:peek-message":
		return (*management).peek
	case "com.microsoft:receive-by-sequence-number":
		return (*management).receiveDeferred
	case "com.microsoft:batch-delete-messages":
		return (*management).deleteMessages
	case "com.microsoft:update-disposition":
		return (*management).updateDisposition
	case "com.microsoft:schedule-message":
		return (*management).schedule
	case "com.microsoft:cancel-scheduled-message":
		return (*management).cancelScheduled
	case "com.microsoft:renew-session-lock":
		return (*management).renewSession
	case "com.microsoft:get-session-state":
		return (*management).sessionState
	case "com.microsoft:set-session-state":
		return (*management).setSessionState
	case "com.microsoft:get-message-sessions":
		return (*management).sessions
	case "com.microsoft:add-rule":
		return (*management).addRule
	case "com.microsoft:remove-rule":
		return (*management).removeRule
	case "com.microsoft:enumerate-rules":
		return (*management).rules
	default:
		return nil
	}
}

// mayBeTransacted reports whether an operation takes part in a transaction, or changes
// nothing that a rollback has to undo: clients enlist every request.
func mayBeTransacted(name string) bool {
	switch name {
	case "com.microsoft:batch-delete-messages", "com.microsoft:add-rule", "com.microsoft:remove-rule":
		return false
	}
	return true
}

// Statuses of answers that are no failure.
const (
	statusOK        = 200
	statusNoContent = 204
)

// answerFrame is room for what an answer holds beside its list.
const answerFrame = 1 << 10

// Respond implements amqp.Responder.
func (m *management) Respond(q *wire.Message, limit int, txn []byte) *wire.Message {
	status, body, err := m.answer(q, limit, txn)
	text, properties := "OK", wire.Map{}
	if status == statusNoContent {
		text = "No content"
	}
	if err != nil {
		e := asCondition(err)
		text = e.Description
		status = messaging.NewError(messaging.Condition(e.Condition), "").Status
		if errors.Is(err, errNothingDeleted) {
			status = statusNoContent
		}
		properties = wire.Map{{Key: "errorCondition", Value: e.Condition}, {Key: "error-condition", Value: e.Condition}}
	}
	if body == nil {
		body = wire.Map{}
	}
	return &wire.Message{
		ApplicationProperties: append(wire.Map{
			{Key: "statusCode", Value: int32(status)}, {Key: "status-code", Value: int32(status)},
			{Key: "statusDescription", Value: text}, {Key: "status-description", Value: text},
		}, properties...),
		Body: wire.AppendValue(nil, body),
	}
}

func (m *management) answer(q *wire.Message, limit int, txn []byte) (status int, body wire.Map, err error) {
	name, _ := q.ApplicationProperties.Get("operation").(string)
	op := operationOf(name)
	if op == nil {
		return 0, nil, wire.Errorf(wire.CondNotImplemented, "operation %q is not offered", name)
	}
	if txn != nil && !mayBeTransacted(name) {
		return 0, nil, wire.Errorf(wire.CondNotAllowed, "%s takes part in no transaction: a rollback would not undo it", name)
	}
	address := m.source + "/$management"
	may, _ := m.b.claims.get(m.at.connection, address)
	if err := may.request(name, address); err != nil {
		return 0, nil, err
	}
	v, _, err := q.Value()
	args, ok := v.(wire.Map)
	if err != nil || !ok {
		return 0, nil, argumentf("%s: the body is no map", name)
	}
	r := &request{args: args, left: limit - answerFrame, txn: txn}
	r.link, _ = q.ApplicationProperties.Get("associated-link-name").(string)
	if r.link != "" && args.Get("session-id") == nil {
		if of := m.b.holders.find(m.at.connection, r.link); len(of) > 0 {
			r.args = append(r.args[:len(r.args):len(r.args)], wire.Entry{Key: "session-id", Value: of[0].session.SessionID()})
		}
	}
	err = m.b.inside(name, func() (err error) {
		status, body, err = op(m, r)
		return err
	})
	if r.err != nil {
		return 0, nil, r.err
	}
	return status, body, err
}

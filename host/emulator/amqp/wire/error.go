package wire

import "fmt"

// Error tells a peer why a connection, session, link or delivery ends badly.
type Error struct {
	Condition   Symbol
	Description string
	Info        Map
}

// Errorf returns an Error without info.
func Errorf(condition Symbol, format string, args ...any) *Error {
	return &Error{Condition: condition, Description: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

// Conditions of the standard.
const (
	CondInternalError         Symbol = "amqp:internal-error"
	CondNotFound              Symbol = "amqp:not-found"
	CondUnauthorizedAccess    Symbol = "amqp:unauthorized-access"
	CondDecodeError           Symbol = "amqp:decode-error"
	CondResourceLimitExceeded Symbol = "amqp:resource-limit-exceeded"
	CondNotAllowed            Symbol = "amqp:not-allowed"
	CondInvalidField          Symbol = "amqp:invalid-field"
	CondNotImplemented        Symbol = "amqp:not-implemented"
	CondIllegalState          Symbol = "amqp:illegal-state"
	CondConnectionForced      Symbol = "amqp:connection:forced"
	CondFramingError          Symbol = "amqp:connection:framing-error"
	CondWindowViolation       Symbol = "amqp:session:window-violation"
	CondErrantLink            Symbol = "amqp:session:errant-link"
	CondHandleInUse           Symbol = "amqp:session:handle-in-use"
	CondUnattachedHandle      Symbol = "amqp:session:unattached-handle"
	CondDetachForced          Symbol = "amqp:link:detach-forced"
	CondTransferLimitExceeded Symbol = "amqp:link:transfer-limit-exceeded"
	CondMessageSizeExceeded   Symbol = "amqp:link:message-size-exceeded"
	CondStolen                Symbol = "amqp:link:stolen"
	CondTransactionUnknown    Symbol = "amqp:transaction:unknown-id"
	CondTransactionRollback   Symbol = "amqp:transaction:rollback"
)

func (e *Error) fields(l *list) {
	l.symbol(&e.Condition, e.Condition != "")
	l.text(&e.Description, e.Description != "")
	l.table(&e.Info, e.Info != nil)
}

func (l *list) error(v **Error) {
	switch {
	case !l.has(*v != nil):
	case l.reading:
		if code := l.Descriptor(); code != DescError && l.err == nil {
			l.fail("error wanted, descriptor 0x%x found", code)
			return
		}
		e := new(Error)
		in := l.readList()
		e.fields(&in)
		l.endList(&in)
		*v = e
	default:
		in := writeList(l.b, DescError)
		(*v).fields(&in)
		l.b = in.whole() // the client for Python waits without end when a field is not there
	}
}

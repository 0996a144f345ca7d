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

func (w *ListWriter) error(e *Error) {
	if e == nil {
		w.Null()
		return
	}
	in := BeginList(w.field(), DescError)
	in.Symbol(e.Condition)
	if e.Description != "" {
		in.String(e.Description)
	} else {
		in.Null()
	}
	in.Map(e.Info)
	in.All() // the client for Python indexes them unseen, and waits without end when one is not there
	w.c.b = in.End()
}

func (f *Fields) error(to **Error) {
	if !f.next() {
		return
	}
	if code := f.d.Descriptor(); code != DescError && f.d.err == nil {
		f.d.fail("error wanted, descriptor 0x%x found", code)
		return
	}
	e := new(Error)
	in := f.d.Fields()
	in.Symbol(&e.Condition)
	in.String(&e.Description)
	in.Map(&e.Info)
	f.d.End(&in)
	*to = e
}

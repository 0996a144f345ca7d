package azure

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// overTransport returns the error of a call that no service has refused: a
// *bindings.UnreachableError for a fault of the transport, whichever client reports
// it, else err.
func overTransport(err error) error {
	if err == nil || !isTransport(err) {
		return err
	}
	return &bindings.UnreachableError{Err: err}
}

// isTransport reports whether an error is one of the way to the service: refused,
// reset, timed out, not resolved, or ended by the other side. A certificate that
// is not trusted is not an outage: waiting does not help.
func isTransport(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		return true // a deadline of the client's own: the deadline of the call was looked at before
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Op != "parse"
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		return hasEnded(e)
	}
	var (
		link       *amqp.LinkError
		session    *amqp.SessionError
		connection *amqp.ConnError
	)
	if errors.As(err, &link) || errors.As(err, &session) || errors.As(err, &connection) {
		return true
	}
	// The messaging clients' errors do not unwrap.
	if e, ok := errors.AsType[*azservicebus.Error](err); ok {
		return e.Code == azservicebus.CodeConnectionLost
	}
	e, ok := errors.AsType[*azeventhubs.Error](err)
	return ok && e.Code == azeventhubs.ErrorCodeConnectionLost
}

// hasEnded reports whether the other side has said that it ends a link or a connection,
// which is no answer to the call.
func hasEnded(e *amqp.Error) bool {
	return e.Condition == amqp.ErrCondDetachForced || e.Condition == amqp.ErrCondConnectionForced
}

// refusals are the conditions that the messaging clients take for a lost connection.
var refusals = [...]messaging.Condition{
	messaging.ConditionLinkStolen, messaging.ConditionArgumentError, messaging.ConditionArgumentOutOfRange,
	messaging.ConditionSessionLockLost, messaging.ConditionMessageNotFound, messaging.ConditionNotImplemented,
}

// refusedBy returns by which condition a link was refused, such as that a reader of a
// higher level is there, or that the position is behind the end. The client takes that
// for a lost connection: its error neither has a code for it nor unwraps, so its text
// has to do.
func refusedBy(text string) messaging.Condition {
	for _, condition := range refusals {
		if strings.Contains(text, string(condition)) {
			return condition
		}
	}
	return ""
}

package retrycontext

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
)

// IsTransient reports whether err is a network fault that passes with time: a
// time-out, a connection that was closed, refused or reset, or a cancelled
// request. Everything else, nil included, is not. It looks at err and at all that
// err wraps, and it says nothing about declared outcomes.
//
// A handler that knows no better can use it to tell faults apart:
//
//	if err != nil && !retrycontext.IsTransient(err) {
//		return retrycontext.Permanent(err)
//	}
//	return err
//
// A bare io.EOF is the ordinary end of some input and not a fault of the
// network; inside an error of packages net or net/http it is a connection that
// the other side closed.
func IsTransient(err error) bool {
	return Walk(err, transient)
}

// transient judges one error by itself.
func transient(err error) bool {
	switch err {
	case context.Canceled, context.DeadlineExceeded, net.ErrClosed, io.ErrUnexpectedEOF, io.ErrClosedPipe:
		return true
	}
	switch e := err.(type) {
	case syscall.Errno:
		return connectionErrno(e) || e.Timeout()
	case *url.Error:
		return errors.Is(e.Err, io.EOF) || e.Timeout()
	case *net.OpError:
		return errors.Is(e.Err, io.EOF) || e.Timeout()
	case interface{ Timeout() bool }:
		return e.Timeout()
	}
	// Errors of other packages that answer to errors.Is only, such as package
	// net's error of a cancelled dial.
	if e, ok := err.(interface{ Is(error) bool }); ok {
		return e.Is(context.Canceled) || e.Is(context.DeadlineExceeded)
	}
	return false
}

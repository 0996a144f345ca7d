package ops

import (
	"context"
	"io"
	"net/http"
)

// An Operation is what a request asks for, with its deed. One that does not say otherwise
// runs under the host's clock, and goes on when its caller has gone; with the tag clock
// "own" it looks after the clock by itself, and ctx ends with its caller.
//
// An error that is an *[Error] refuses; what callers are told of another one says the
// service. A method Offered says that only some runs have the operation.
type Operation[Out any] interface {
	Request[Out]
	Do(ctx context.Context, e *Env) (Out, error)
}

// Stream is an answer of bytes.
type Stream struct {
	Header http.Header
	Length int64 // in bytes, if Known
	Known  bool

	// Write writes it. What fails after the first byte is cut short; what failed before it is
	// refused.
	Write func(out io.Writer) error

	// Close is called once at the end; nil: there is nothing to close.
	Close func() error
}

// Untyped is a stream of bytes that no browser runs as a page.
func Untyped() Stream {
	return Stream{Header: http.Header{"Content-Type": {"application/octet-stream"}, "X-Content-Type-Options": {"nosniff"}}}
}

// Bytes is a stream of those bytes.
func (s Stream) Bytes(text []byte) Stream {
	s.Length, s.Known = int64(len(text)), true
	s.Write = func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	}
	return s
}

// Deed is an operation of a list, ready to be done.
type Deed struct {
	Route
	offered func(e *Env) bool
	do      func(ctx context.Context, e *Env, read func(in any) error) (any, error)
}

// Of is the deed of an operation. What its fields have before a request is read, they have in
// all of them.
func Of[In Operation[Out], Out any](in In) Deed {
	route := RouteOf(in)
	out := Deed{Route: route}
	if o, ok := any(in).(interface{ Offered(e *Env) bool }); ok {
		out.offered = o.Offered
	}
	out.do = func(ctx context.Context, e *Env, read func(in any) error) (any, error) {
		in := in
		if err := read(&in); err != nil {
			return nil, err
		}
		if route.OwnClock {
			return in.Do(ctx, e)
		}
		var answer Out
		err := e.Inside(route.Name, func(ctx context.Context) (err error) {
			answer, err = in.Do(ctx, e)
			return err
		})
		return answer, err
	}
	return out
}

// Offered reports whether a run has the operation.
func (d Deed) Offered(e *Env) bool { return d.offered == nil || d.offered(e) }

// Do does what is asked for; read reads the parameters into a pointer to the operation's
// struct. Call it outside the clock.
func (d Deed) Do(ctx context.Context, e *Env, read func(in any) error) (any, error) {
	if err := e.Elsewhere(d.Needs); err != nil {
		return nil, err
	}
	return d.do(ctx, e, read)
}

// Refused is what a caller is told of an error of Do; names are those that the request gave,
// of which one may be a slip. Call it outside the clock.
func (d Deed) Refused(e *Env, names []string, err error) *Error {
	s := e.service(func(s *Service) bool { return s.Path == d.Service() })
	return e.Meant(s, names, s.Refusal(err))
}

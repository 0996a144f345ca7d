package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// controlRoutes serves the operations, and the journal.
func (s *Server) controlRoutes(mux *http.ServeMux) {
	own := http.NewServeMux()
	for _, op := range s.opts.Table.Operations() {
		if op.Path != "" && op.Offered(&s.env) {
			own.HandleFunc(pattern(op.Route), livesOr(s, op, s.operation(op)))
		}
	}
	own.HandleFunc(pattern(ops.RouteOf(run.ReadJournal{})), followed(s, func(w http.ResponseWriter, r *http.Request) error {
		var in run.ReadJournal
		if err := decode(r, &in); err != nil {
			return err
		}
		return s.journal(w, r, in)
	}))
	if s.opts.Metrics != nil {
		own.Handle("GET "+ops.Prefix+"/metrics", s.opts.Metrics)
	}
	own.HandleFunc(ops.Prefix+"/", unknown(own))
	mux.Handle(ops.Prefix+"/", own)
}

// unknown refuses what is no operation, as all that is refused: in JSON.
func unknown(known *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
			other := *r
			other.Method = method
			if _, pattern := known.Handler(&other); pattern != ops.Prefix+"/" {
				allowed = append(allowed, method)
			}
		}
		status := http.StatusNotFound
		if len(allowed) > 0 {
			status = http.StatusMethodNotAllowed
			w.Header().Set("Allow", strings.Join(allowed, ", "))
		}
		writeRefusal(w, &ops.Error{
			Status: status, Code: "unknown_path", Text: fmt.Sprintf("there is no operation %s %s", r.Method, r.URL.Path), Hint: "GET " + ops.Prefix + "/openapi.json has all operations",
		})
	}
}

func pattern(route ops.Route) string { return route.Method + " " + ops.Prefix + route.Path }

// operation serves an operation.
func (s *Server) operation(op ops.Deed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := limited(w, r, op.Limit)
		body := &begun{ReadCloser: asked.Body}
		asked.Body = body
		err := s.guardedly(w, asked, func() error { return s.do(w, asked, op) })
		if err == nil {
			return
		}
		writeRefusal(w, op.Refused(&s.env, op.NamesOf(r), err))
		if op.Limit < 0 {
			body.linger(w, r)
		}
	}
}

// do does what a request asks for, and writes the answer.
func (s *Server) do(w http.ResponseWriter, r *http.Request, op ops.Deed) error {
	answer, err := op.Do(r.Context(), &s.env, func(in any) error { return decode(r, in) })
	if err != nil {
		return err
	}
	switch answer := answer.(type) {
	case ops.Stream:
		return s.streamed(w, r, op, answer)
	case ops.None:
		w.WriteHeader(op.Status)
	default:
		writeJSON(w, op.Status, answer)
	}
	return nil
}

// guardedly serves a request. One that panics is refused: its caller has an answer, and not
// the end of the connection.
func (s *Server) guardedly(w http.ResponseWriter, r *http.Request, serve func() error) (err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler: // what has begun cannot become a refusal
			panic(cause)
		default:
			s.failed(r, cause)
			w.Header().Del("Content-Length")
			err = ops.Refuse(http.StatusInternalServerError, fmt.Sprintf("the host has failed to answer: %v", cause), "this is a fault of redeliver; what the host says stands in its log")
		}
	}()
	return serve()
}

// failed logs a panic.
func (s *Server) failed(r *http.Request, cause any) {
	s.opts.Logger.Error().Str("component", "web").Str("request", r.Method+" "+r.URL.Path).Interface("panic", cause).Bytes("stack", debug.Stack()).Msg("an operation has failed")
}

// streamed writes an answer of bytes. The error is one that can still be told: nothing was
// written before it.
func (s *Server) streamed(w http.ResponseWriter, r *http.Request, op ops.Deed, answer ops.Stream) error {
	if answer.Close != nil {
		defer func() { _ = answer.Close() }()
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	if answer.Known {
		w.Header().Set("Content-Length", strconv.FormatInt(answer.Length, 10))
	}
	out := &counted{w: w}
	defer func() {
		if out.n == 0 {
			return // guardedly refuses it
		}
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler {
				s.failed(r, cause)
			}
			panic(http.ErrAbortHandler) // what has begun cannot become a refusal
		}
	}()
	err := answer.Write(out)
	if err != nil && out.err == nil { // and not the caller's going away
		s.opts.Logger.Error().Err(err).Str("component", "web").Str("request", r.Method+" "+r.URL.RequestURI()).Msg("an answer could not be written to its end")
	}
	switch {
	case out.n > 0 && err != nil: // too late for a status: the caller sees an answer that is cut short
		panic(http.ErrAbortHandler)
	case err != nil:
		for name := range answer.Header {
			w.Header().Del(name)
		}
		w.Header().Del("Content-Length")
	case out.n == 0:
		w.WriteHeader(op.Status)
	}
	return err
}

// counted counts what was written; err is the first failure.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.n += int64(n); err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// decode reads what a request asks for.
func decode(r *http.Request, in any) error {
	err := ops.Decode(r, in)
	if refused := (*ops.Error)(nil); err != nil && !errors.As(err, &refused) {
		err = ops.Unread(err)
	}
	return err
}

func writeRefusal(w http.ResponseWriter, refused *ops.Error) {
	writeJSON(w, refused.Status, refused.Told())
}

// limited is a request with a body that has an end.
func limited(w http.ResponseWriter, r *http.Request, limit int64) *http.Request {
	out := new(http.Request)
	*out = *r
	switch {
	case limit < 0:
		return out
	case limit == ops.MaxBody:
		listen.Within(r, listen.BodyPatience)
	}
	out.Body = http.MaxBytesReader(w, r.Body, limit)
	return out
}

// begun is the body of a request, and whether its reading has begun.
type begun struct {
	io.ReadCloser
	read bool
}

func (b *begun) Read(p []byte) (int, error) {
	b.read = true
	return b.ReadCloser.Read(p)
}

// lingering is how long the rest of a refused body is waited for.
const lingering = 2 * time.Second

// linger sends the answer to a body that was refused in its middle, and reads on
// until the sender has seen it: a connection that is closed while bytes are coming
// takes the answer with it. A client without leave to send has sent nothing.
func (b *begun) linger(w http.ResponseWriter, r *http.Request) {
	if !b.read {
		return
	}
	_ = http.NewResponseController(w).Flush() // a ResponseWriter of a test has none
	listen.Within(r, lingering)
	_, _ = io.Copy(io.Discard, b.ReadCloser)
}

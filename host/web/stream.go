//clock:outside sockets and their callers are of the real world

package web

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// readAhead limits the bodies that are read before the function is called: those that may
// be objects, for what these say to its binding expressions. The platform reads all whose
// length is known (ext: HttpTriggerAttributeBindingProvider.cs, GetRequestBindingDataAsync).
const readAhead = 1 << 20

// stream is serveFunction for a function that takes its request as it comes in, and
// whose answer goes out as it comes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, serve func(*bindings.HTTPRequest) *bindings.HTTPResponse) {
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // HTTP/2 has it always
	live := &stream{w: w, control: control, body: http.MaxBytesReader(w, r.Body, s.maxBody())}
	req := request(r, nil)
	if 0 < r.ContentLength && r.ContentLength <= readAhead {
		body := bufio.NewReader(live.body)
		live.body = body
		if first, err := body.Peek(1); err == nil && bytes.ContainsAny(first, "{ \t\r\n") {
			if req.Body, err = io.ReadAll(body); err != nil {
				writeReadError(w, err)
				return
			}
			live.body = bytes.NewReader(req.Body)
		}
	}
	req.Stream = live
	resp := serve(req)
	refused := live.leave()
	switch {
	case live.begun && !live.complete:
		panic(http.ErrAbortHandler) // the caller must not take a part for the whole
	case live.begun:
	case refused != nil && r.Context().Err() == nil:
		writeReadError(w, refused)
	default:
		writeResponse(w, resp)
	}
}

// stream is the connection of one call. It implements bindings.HTTPStream. Begun and
// complete belong to who answers, and when the host has served, to the server.
type stream struct {
	w               http.ResponseWriter
	control         *http.ResponseController
	body            io.Reader
	begun, complete bool

	mu   sync.Mutex // guards, and is held during a Read:
	over bool
	err  error // why it cannot be read
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := s.body.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// leave ends the reading, also of one that waits for the caller, and says why the body
// could not be read, if it could not.
func (s *stream) leave() error {
	if !s.mu.TryLock() {
		_ = s.control.SetReadDeadline(time.Unix(1, 0)) // ends a Read
		s.mu.Lock()
		s.err = nil
	}
	defer s.mu.Unlock()
	s.over = true
	return s.err
}

// Answer implements bindings.HTTPStream.
func (s *stream) Answer(status int, header http.Header) bindings.HTTPAnswer {
	s.begun = true
	copyHeader(s.w.Header(), header)
	if length := header.Get("Content-Length"); length != "" {
		s.w.Header().Set("Content-Length", length)
	}
	s.w.WriteHeader(status)
	_ = s.control.Flush()
	return answer{s}
}

// Fail implements bindings.HTTPStream.
func (s *stream) Fail(header http.Header) { copyHeader(s.w.Header(), header) }

// answer is what is written to the caller.
type answer struct{ *stream }

func (a answer) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if err == nil {
		err = a.control.Flush()
	}
	return n, err
}

func (a answer) Trailer(trailer http.Header) {
	for name, values := range trailer {
		a.w.Header()[http.TrailerPrefix+name] = values
	}
}

func (a answer) Close() error {
	a.complete = true
	return nil
}

package listen

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// BodyPatience is how long, in real time, a listener waits for a small body as a whole,
// and for each part of one that may be large.
const BodyPatience = 2 * time.Minute

// Body is the body of a request on its way in, from a client that may send slowly or
// stop. It is read by one goroutine.
type Body struct {
	from    io.ReadCloser
	control *http.ResponseController
	by      time.Time // the deadline that was set last
	length  int64     // that was announced; -1: none
	asks    bool      // the client waits for leave to send it
	whole   bool      // by is for all of it
	ended   bool
	err     error // a *BodyError
}

// ReceiveBody returns the request's body as a Body; it is the request's own in a handler
// of Bodies. From now on each part of it may take BodyPatience, read or not: what a
// handler leaves, the server reads before it answers. The request is left as it is, for
// the server looks at its body too.
func ReceiveBody(w http.ResponseWriter, r *http.Request) *Body {
	if b, ok := r.Body.(*Body); ok {
		return b
	}
	b := &Body{from: r.Body, control: http.NewResponseController(w), length: r.ContentLength, asks: r.Header.Get("Expect") != ""}
	if r.Body == nil || r.Body == http.NoBody {
		b.from, b.ended = http.NoBody, true
		return b
	}
	b.wait()
	return b
}

// Bodies serves next with requests whose body is a Body.
func Bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := ReceiveBody(w, r)
		own := new(http.Request)
		*own = *r
		own.Body = b
		next.ServeHTTP(w, own)
		b.Leave()
	})
}

// Within applies to the request's body in a handler of Bodies, and has no effect
// elsewhere.
func Within(r *http.Request, patience time.Duration) {
	if b, ok := r.Body.(*Body); ok {
		b.Within(patience)
	}
}

// Within makes a time, from now on, that for all that is still to come: for bodies that
// are small, with BodyPatience.
func (b *Body) Within(patience time.Duration) {
	if b.ended || b.err != nil {
		return
	}
	b.whole, b.by = true, time.Now().Add(patience)
	_ = b.control.SetReadDeadline(b.by) // a ResponseWriter of a test has none
}

// Small reads a body of at most limit bytes, within BodyPatience. A longer body
// fails with an *http.MaxBytesError, and an incomplete one with a *BodyError.
func (b *Body) Small(limit int64) ([]byte, error) {
	if b.length > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	b.Within(BodyPatience)
	content, err := io.ReadAll(io.LimitReader(b, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &http.MaxBytesError{Limit: limit}
	}
	return content, err
}

// Skip reads on for a while after a refusal, at most so many bytes, so that a client that
// is still writing gets to see the answer. One that waits for leave to send gets none, and
// neither does one that has stopped sending. Each part may take BodyPatience.
func (b *Body) Skip(most int64) {
	if b.ended || b.asks || b.err != nil {
		return
	}
	b.whole = false
	_, _ = io.CopyN(io.Discard, b, most) // what it does not finish is its own affair
}

// BodyError says that a body did not come to its end: the client stopped sending, or the
// connection broke.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the connection.
func (e *BodyError) Unwrap() error { return e.Err }

// wait gives the client time for what comes next.
func (b *Body) wait() {
	if b.whole || b.err != nil {
		return
	}
	// A deadline that is somewhat early costs nothing to leave as it is.
	if by := time.Now().Add(BodyPatience); by.Sub(b.by) > time.Second {
		b.by = by
		_ = b.control.SetReadDeadline(by)
	}
}

func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil { // a caller that asks again does not get more time
		return 0, b.err
	}
	b.asks = false // net/http gives it
	b.wait()
	n, err := b.from.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.end()
	case err != nil:
		b.err = &BodyError{err}
		return n, b.err
	}
	return n, err
}

// end lets the connection wait for the next request as long as the server likes: a
// deadline that passes while the handler is at work would cancel its request.
func (b *Body) end() {
	if !b.ended {
		b.ended = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
}

// Leave is for a handler that reads no more: the server takes what is still coming, for
// BodyPatience at most.
func (b *Body) Leave() {
	switch {
	case b.ended:
	case b.err != nil: // nothing will come
		_ = b.control.SetReadDeadline(time.Unix(1, 0))
	default:
		b.whole = false
		b.wait()
	}
}

// Err is a *BodyError once the body could not be read; nil otherwise.
func (b *Body) Err() error { return b.err }

// Close implements io.Closer.
func (b *Body) Close() error { return b.from.Close() }

// Package proxy carries HTTP requests to the server of a process and its answers back, both
// as they come: to language workers that serve HTTP themselves, and to custom handlers that
// have requests proxied (spec workers-dotnet-java 1.10, spec workers 13.5). Read [Exchange.Begin]
// first. Left out: what the outcome means for the attempt.
//
// It is of the real world; under the clock its waits go through Outside.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// InvocationHeader names the attempt that a request belongs to.
const InvocationHeader = "X-Ms-Invocation-Id"

const (
	// dials is how often a server that refuses is asked again, after dialPause and
	// longer, up to maxDialPause.
	dials                   = 10
	dialPause, maxDialPause = 50 * time.Millisecond, 250 * time.Millisecond
	// tail is how long the answer to a call that has failed may still come.
	tail = 5 * time.Second
	// heldAnswer limits an answer that is held back until the call has succeeded.
	heldAnswer = 100 << 20
)

// Why the host ends an exchange.
var (
	ErrGone   = errors.New("the caller has gone, or the time of the function is over")
	ErrFailed = errors.New("the function has failed")

	errIdle = errors.New("nothing has come or gone for too long")
)

// Server is the HTTP server of one process.
type Server struct {
	at        *url.URL
	name      string
	idle      time.Duration
	transport *http.Transport
}

// New returns the server at an address, which texts call by that name. Idle is how long an
// exchange may stand still.
func New(at *url.URL, name string, idle time.Duration) *Server {
	return &Server{at: at, name: name, idle: idle, transport: &http.Transport{ // no proxy, no cookies; RoundTrip follows no redirect
		DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 256,
		IdleConnTimeout: 2 * time.Second, // shorter than servers keep theirs
	}}
}

// dial connects, with some patience for a server that is only just starting.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	pause := dialPause
	for i := 0; ; i++ {
		nc, err := d.DialContext(ctx, network, addr)
		if err == nil || i == dials || ctx.Err() != nil {
			return nc, err
		}
		select { //clock:outside the server of a process
		case <-time.After(pause): //clock:outside the server of a process
		case <-ctx.Done(): //clock:outside the server of a process
		}
		pause = min(pause*2, maxDialPause)
	}
}

// Close closes connections that no exchange uses. A nil Server has none.
func (s *Server) Close() {
	if s != nil {
		s.transport.CloseIdleConnections()
	}
}

// Exchange is one request and its answer.
type Exchange struct {
	server *Server
	life   context.Context // of the real world
	cancel context.CancelCauseFunc
	judged chan struct{} //clock:outside closed with the outcome of the call
	done   chan struct{} //clock:outside closed at the end

	// After judged:
	good bool // the call has succeeded
	// After done:
	heard  bool // the server has answered
	whole  bool // the caller has all of the answer, and may go
	status int
	held   *bindings.HTTPResponse
	err    error
}

// Exchange returns an exchange with the server that has not begun.
func (s *Server) Exchange() *Exchange {
	life, cancel := context.WithCancelCause(context.Background()) //clock:outside the server of a process
	return &Exchange{
		server: s, life: life, cancel: cancel,
		judged: make(chan struct{}), done: make(chan struct{}), //clock:outside the server of a process
	}
}

// Begin sends a request, with more headers than it has. It returns at once. The answer goes
// to the caller as it comes when r has a stream, its head with the first byte of its body: an
// answer without a body begins with Wait, and never when the call has failed (End); every
// answer ends with Wait. Without a stream the answer is held. failed is called when the request has not come through; nil:
// nobody.
func (x *Exchange) Begin(r *bindings.HTTPRequest, more http.Header, failed func()) {
	go func() { //clock:outside waited for by Wait and End
		defer close(x.done) //clock:outside the server of a process
		err := x.server.carry(x.life, x, r, more)
		if err != nil && x.life.Err() != nil && !x.whole {
			err = context.Cause(x.life)
		}
		if err != nil {
			x.err = fmt.Errorf("%s at %s: %w", x.server.name, x.server.at, err)
		}
		if !x.heard && x.life.Err() == nil && failed != nil {
			failed()
		}
	}()
}

// Cancel ends the exchange, for that reason.
func (x *Exchange) Cancel(why error) { x.cancel(why) }

// Status is that of the answer, after the end; 0: none began.
func (x *Exchange) Status() int { return x.status }

// Held is the answer after the end; nil when it went to the caller at once.
func (x *Exchange) Held() *bindings.HTTPResponse { return x.held }

// Err says after the end why request or answer did not come through.
func (x *Exchange) Err() error { return x.err }

// Wait waits for the end of an exchange whose call has succeeded, or is the exchange alone.
// It is called once.
func (x *Exchange) Wait() error {
	x.good = true
	close(x.judged) //clock:outside the server of a process
	<-x.done        //clock:outside the server of a process
	return x.err
}

// End waits for the end of an exchange whose call has failed. What the server still answers
// is awaited for a while, since the platform awaits it before it looks at the failure (host:
// GrpcWorkerChannel.cs, InvokeResponse). It is called once, in the place of Wait.
func (x *Exchange) End() {
	close(x.judged)                                              //clock:outside the server of a process
	late := time.AfterFunc(tail, func() { x.cancel(ErrFailed) }) //clock:outside the server of a process
	defer late.Stop()
	<-x.done //clock:outside the server of a process
}

// carry carries request and answer.
func (s *Server) carry(ctx context.Context, x *Exchange, r *bindings.HTTPRequest, more http.Header) error {
	busy := &busy{limit: s.idle}
	busy.timer = time.AfterFunc(s.idle, func() { x.cancel(errIdle) }) //clock:outside the server of a process
	defer busy.timer.Stop()
	req, err := s.request(ctx, r, more, busy)
	if err != nil {
		return err
	}
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("it closed the connection without an answer")
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	busy.now()
	x.heard = true
	if resp.StatusCode < http.StatusOK { // net/http takes any three digits, and a caller no such answer
		if r.Stream != nil {
			r.Stream.Fail(withoutHops(resp.Header))
		}
		return fmt.Errorf("its answer has the status %d, and clients take 200 to 999", resp.StatusCode)
	}
	withoutHops(resp.Header)
	if r.Stream == nil {
		x.status = resp.StatusCode
		resp.Header.Del("Content-Length")
		x.held, err = held(resp, busy)
		return err
	}
	to := &passage{x: x, from: resp, stream: r.Stream}
	n, err := io.Copy(to, busy.reader(resp.Body))
	if err != nil {
		return fmt.Errorf("its answer broke off: %w", err)
	}
	if x.whole = n > 0 && n == resp.ContentLength; x.whole {
		ctx = context.Background() //clock:outside the caller
	}
	return to.end(ctx, busy)
}

// passage is an answer on its way to a caller. A worker of .NET that fails before it has
// answered closes the request with 200 and nothing in it; the platform's response has not
// started then, and its middleware for exceptions makes it 500, with the headers that the
// function has set (host: ExceptionMiddleware.cs; worker: FunctionsHttpProxyingMiddleware.cs).
type passage struct {
	x      *Exchange
	from   *http.Response
	stream bindings.HTTPStream
	to     bindings.HTTPAnswer // nil: not begun
}

func (p *passage) Write(b []byte) (int, error) {
	p.begin()
	return p.to.Write(b)
}

func (p *passage) begin() {
	if p.to == nil {
		p.x.status = p.from.StatusCode
		p.to = p.stream.Answer(p.from.StatusCode, p.from.Header)
	}
}

// end ends the answer when the call has succeeded, which is bound by the time of the
// function. Of one that has begun when the call fails the caller never sees the end, and one
// that has told of its length has none for the caller to wait for: who hangs up then is
// served.
func (p *passage) end(ctx context.Context, busy *busy) error {
	busy.timer.Stop()
	select { //clock:outside the server of a process
	case <-p.x.judged: //clock:outside the server of a process
		if !p.x.good {
			if p.to == nil {
				p.stream.Fail(p.from.Header)
			}
			return ErrFailed
		}
	case <-ctx.Done(): //clock:outside the server of a process
	}
	if err := ctx.Err(); err != nil { // who left before the call succeeded has left too early
		return err
	}
	p.begin()
	p.to.Trailer(p.from.Trailer)
	return p.to.Close()
}

// held reads an answer to its end.
func held(resp *http.Response, busy *busy) (*bindings.HTTPResponse, error) {
	body, err := io.ReadAll(io.LimitReader(busy.reader(resp.Body), heldAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("its answer broke off: %w", err)
	case len(body) > heldAnswer:
		return nil, fmt.Errorf("its answer has more than %d bytes", heldAnswer)
	}
	return &bindings.HTTPResponse{StatusCode: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// hopByHop are headers that belong to one connection.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Te", "Trailer", "Upgrade"} // read only

// separators are those between the values of headers that have others than a comma.
var separators = map[string]string{"Cookie": "; ", "User-Agent": " "} // read only

// withoutHops takes those headers away.
func withoutHops(h http.Header) http.Header {
	for _, name := range hopByHop {
		h.Del(name)
	}
	return h
}

// request is a request as the server gets it: the caller's own, with the path and the query
// as they came.
func (s *Server) request(ctx context.Context, r *bindings.HTTPRequest, more http.Header, busy *busy) (*http.Request, error) {
	from, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	to := *s.at
	to.Path, to.RawPath, to.RawQuery = from.Path, from.RawPath, from.RawQuery
	var body io.Reader = bytes.NewReader(r.Body)
	if r.Stream != nil {
		body = busy.reader(r.Stream)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, to.String(), body)
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // an attempt is one request: the transport does not send it again
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); r.Stream != nil && err == nil && n >= 0 {
		if req.ContentLength = n; n == 0 {
			req.Body = http.NoBody
		}
	}
	if req.Header = r.Header.Clone(); req.Header == nil {
		req.Header = http.Header{}
	}
	withoutHops(req.Header)
	for _, name := range []string{"Host", "Content-Length", "Expect"} {
		req.Header.Del(name)
	}
	for name, values := range req.Header { // one line for each, as .NET's client writes them
		if len(values) > 1 {
			req.Header[name] = []string{strings.Join(values, cmp.Or(separators[name], ", "))}
		}
	}
	if _, given := req.Header["User-Agent"]; !given {
		req.Header["User-Agent"] = nil // none, as it came
	}
	req.Header.Set("X-Forwarded-Proto", from.Scheme)
	req.Header.Set("X-Forwarded-Host", from.Host)
	if req.Header.Del("X-Forwarded-For"); r.Caller != "" {
		req.Header.Set("X-Forwarded-For", r.Caller)
	}
	for _, name := range r.HeaderNames { // as they were spelled
		if canonical := http.CanonicalHeaderKey(name); canonical != name && req.Header[canonical] != nil {
			req.Header[name] = req.Header[canonical]
			delete(req.Header, canonical)
		}
	}
	for name, values := range more { // in the place of what the caller made up
		req.Header[name] = values
	}
	return req, nil
}

// busy notices that an exchange has stopped.
type busy struct {
	timer *time.Timer
	limit time.Duration
}

func (b *busy) now() { b.timer.Reset(b.limit) }

func (b *busy) reader(from io.Reader) io.Reader { return busyReader{from, b} }

type busyReader struct {
	io.Reader
	busy *busy
}

func (r busyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.busy.now()
	return n, err
}

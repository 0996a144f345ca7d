package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A worker with this capability serves HTTP itself: a request goes to its server, and the
// call, without the request, to its stream. The worker brings the two together by the
// invocation ID, and the answer of its server is the function's (spec
// workers-dotnet-java 1.10).
const (
	forwarding       = "HttpUri"
	invocationHeader = "X-Ms-Invocation-Id"
)

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
	errIdle   = errors.New("nothing has come or gone for too long")
	errGone   = errors.New("the caller has gone, or the time of the function is over")
	errFailed = errors.New("the function has failed")
)

// server is the HTTP server of one worker process.
type server struct {
	at        *url.URL
	transport *http.Transport
	idle      time.Duration
}

// serverOf is the server that a worker announces; nil: none.
func serverOf(can capabilities, idle time.Duration) (*server, error) {
	if !can.has(forwarding) {
		return nil, nil
	}
	at, err := url.Parse(can[forwarding])
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return nil, fmt.Errorf("it says that it serves HTTP at %q, which is not an http address", can[forwarding])
	}
	s := &server{at: at, idle: idle}
	s.transport = &http.Transport{ // no proxy, no cookies; RoundTrip follows no redirect
		DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 256,
		IdleConnTimeout: 2 * time.Second, // shorter than servers keep theirs
	}
	return s, nil
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

func (s *server) close() {
	if s != nil {
		s.transport.CloseIdleConnections()
	}
}

// forwarded is the request of a call that goes to the worker's server; nil: none does.
func (c capabilities) forwarded(r *call.Request) *bindings.HTTPRequest {
	if !c.has(forwarding) || len(r.Inputs) == 0 || r.Inputs[0].Value.Kind != bindings.Request {
		return nil
	}
	return r.Inputs[0].Value.HTTP
}

// bare is the request of a forwarded call as the stream carries it.
func (c capabilities) bare(r *bindings.HTTPRequest) *workerpb.RpcHttp {
	out := &workerpb.RpcHttp{}
	if !c.has("RequiresRouteParameters") {
		return out
	}
	params := map[string]string{}
	for name, value := range r.Params {
		params[utf8(name)] = utf8(value)
	}
	if c.has("UseNullableValueDictionaryForHttp") {
		out.NullableParams = nullable(params)
	} else {
		out.Params = params
	}
	return out
}

// exchange is the HTTP half of a call.
type exchange struct {
	cancel context.CancelCauseFunc
	came   chan struct{} //clock:outside closed with the head of the answer, or with done
	done   chan struct{} //clock:outside closed at the end

	// After came:
	status int
	// After done:
	held *bindings.HTTPResponse // nil when it went to the caller at once
	err  error
}

func newExchange() (x *exchange, ctx context.Context) {
	ctx, cancel := context.WithCancelCause(context.Background()) //clock:outside the server of a process
	return &exchange{
		cancel: cancel, came: make(chan struct{}), done: make(chan struct{}), //clock:outside the server of a process
	}, ctx
}

// start sends the request of a call to the server. It returns at once; failed is called
// when the request has not come through.
func (x *exchange) start(ctx context.Context, s *server, r *bindings.HTTPRequest, id string, failed func()) {
	go func() { //clock:outside waited for by end
		defer close(x.done) //clock:outside the server of a process
		err := s.carry(ctx, x, r, id)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			x.err = fmt.Errorf("the worker's HTTP server at %s: %w", s.at, err)
		}
		if x.status != 0 {
			return
		}
		close(x.came) //clock:outside the server of a process
		if ctx.Err() == nil {
			failed()
		}
	}()
}

// carry carries request and answer.
func (s *server) carry(ctx context.Context, x *exchange, r *bindings.HTTPRequest, id string) error {
	busy := &busy{limit: s.idle}
	busy.timer = time.AfterFunc(s.idle, func() { x.cancel(errIdle) }) //clock:outside the server of a process
	defer busy.timer.Stop()
	req, err := s.request(ctx, r, id, busy)
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
	for _, name := range hopByHop {
		resp.Header.Del(name)
	}
	x.status = resp.StatusCode
	close(x.came) //clock:outside the server of a process
	if r.Stream == nil {
		resp.Header.Del("Content-Length")
		x.held, err = held(resp, busy)
		return err
	}
	to := r.Stream.Answer(resp.StatusCode, resp.Header)
	if _, err := io.Copy(to, busy.reader(resp.Body)); err != nil {
		return fmt.Errorf("its answer broke off: %w", err)
	}
	return to.Close()
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

// request is a request as the worker's server gets it: the caller's own, with the path
// and the query as they came.
func (s *server) request(ctx context.Context, r *bindings.HTTPRequest, id string, busy *busy) (*http.Request, error) {
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
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); r.Stream != nil && err == nil && n >= 0 {
		if req.ContentLength = n; n == 0 {
			req.Body = http.NoBody
		}
	}
	if req.Header = r.Header.Clone(); req.Header == nil {
		req.Header = http.Header{}
	}
	for _, name := range hopByHop {
		req.Header.Del(name)
	}
	for _, name := range []string{"Host", "Content-Length", "Expect"} {
		req.Header.Del(name)
	}
	if _, given := req.Header["User-Agent"]; !given {
		req.Header["User-Agent"] = nil // none, as it came
	}
	req.Header.Set(invocationHeader, id) // in the place of one that the caller made up
	req.Header.Set("X-Forwarded-Proto", from.Scheme)
	req.Header.Set("X-Forwarded-Host", from.Host)
	if req.Header.Del("X-Forwarded-For"); r.Caller != "" {
		req.Header.Set("X-Forwarded-For", r.Caller)
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

// wait waits for the end.
func (x *exchange) wait() error {
	<-x.done //clock:outside the server of a process
	return x.err
}

// end waits for the end of an exchange whose call has failed. An answer that has begun may
// come to its own end.
func (x *exchange) end() {
	select { //clock:outside the server of a process
	case <-x.came: //clock:outside the server of a process
	default:
		x.cancel(errFailed)
	}
	late := time.AfterFunc(tail, func() { x.cancel(errFailed) }) //clock:outside the server of a process
	defer late.Stop()
	_ = x.wait()
}

// unmet is the end of the call for a worker whose server the request did not reach: the
// worker can go on waiting for it.
func (c *conversation) unmet() {
	c.cancel()
	c.giveUp(c.w.spec.MeetLimit)
}

// reason says why a function was given up.
func (c *conversation) reason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.half.err
}

// meet joins the halves of a call: it has succeeded when both have. The worker's outcome
// was awaited first (spec workers-dotnet-java 1.10).
func (c *conversation) meet(ctx context.Context, name string, resp *call.Response, err error, log func(call.Log)) (*call.Response, error) {
	x := c.half
	if err != nil || resp.Status != call.Succeeded {
		c.w.clk.Away(ctx, name, x.end)
		switch {
		case x.err != nil && !errors.Is(x.err, errFailed):
			log(call.Log{Level: call.Warning, Message: x.err.Error()})
		case x.status != 0 && c.req.Inputs[0].Value.HTTP.Stream != nil:
			log(call.Log{Level: call.Warning, Message: fmt.Sprintf("the function has failed after the caller got its answer, with status %d", x.status)})
		}
		return resp, err
	}
	c.w.clk.Away(ctx, name, func() { _ = x.wait() })
	if x.err != nil {
		return &call.Response{Error: &call.Error{Message: x.err.Error()}}, nil
	}
	if resp.Return != nil && resp.Return.Kind == bindings.Response {
		resp.Return = nil
	}
	delete(resp.Outputs, c.req.HTTPOutput)
	if x.held != nil {
		answer := bindings.Value{Kind: bindings.Response, HTTPResponse: x.held}
		if c.req.HTTPOutput == "" || c.req.HTTPOutput == "$return" {
			resp.Return = &answer
			return resp, nil
		}
		if resp.Outputs == nil {
			resp.Outputs = map[string]bindings.Value{}
		}
		resp.Outputs[c.req.HTTPOutput] = answer
	}
	return resp, nil
}

//clock:outside sockets, and a worker, which never sees the clock

package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen/listentest"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// meetings bring the halves of the calls together in a worker that serves HTTP.
type meetings struct {
	mu  sync.Mutex
	all map[string]*meeting
}

type meeting struct {
	call   chan *workerpb.RpcHttp
	result chan *workerpb.StatusResult
}

func (m *meetings) of(id string) *meeting {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]*meeting{}
	}
	if m.all[id] == nil {
		m.all[id] = &meeting{make(chan *workerpb.RpcHttp, 1), make(chan *workerpb.StatusResult, 1)}
	}
	return m.all[id]
}

// called is the half that comes by the stream.
func (m *meeting) called(h *workerpb.RpcHttp) *workerpb.StatusResult {
	m.call <- h
	return <-m.result
}

// serve opens the server of a worker.
func (a *actor) serve() string {
	at := "127.0.0.1:" + strconv.Itoa(listentest.FreePort())
	run := func() {
		l, err := net.Listen("tcp", at)
		check(err)
		go func() { _ = http.Serve(l, http.HandlerFunc(a.request)) }()
	}
	switch {
	case a.is("servesNobody"):
	case a.is("servesLate"):
		time.AfterFunc(300*time.Millisecond, run)
	default:
		run()
	}
	return "http://" + at
}

// request is the half of a call that comes to the server. The end of its path says what
// becomes of it.
func (a *actor) request(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	end := path.Base(r.URL.Path)
	if end == "halves" || end == "retries" || end == "failsLate" { // they answer while they read
		_ = control.EnableFullDuplex()
	}
	m := a.meets.of(r.Header.Get("x-ms-invocation-id"))
	by := <-m.call
	result := success()
	defer func() { m.result <- result }()
	if end != "echo" && end != "halves" && end != "retries" && end != "failsLate" {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the caller is not seen
	}
	switch end {
	case "echo":
		body, err := io.ReadAll(r.Body)
		check(err)
		bare, err := protojson.Marshal(by)
		check(err)
		text, err := json.Marshal(seen{r.Method, r.RequestURI, r.Header, string(body), strings.ReplaceAll(string(bare), " ", ""), r.TransferEncoding, r.Host})
		check(err)
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusFound)
		_, _ = w.Write(text)
	case "halves":
		_, err := io.WriteString(w, "first ")
		check(err)
		check(control.Flush())
		_, err = io.Copy(w, r.Body)
		check(err)
	case "large":
		for range 10 {
			_, _ = w.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<16))
		}
	case "failsLate":
		_, _ = io.WriteString(w, "answered")
		check(control.Flush())
		_, _ = io.Copy(io.Discard, r.Body)
		result = failure("no such order")
	case "throws": // as .NET ends a request whose function has thrown
		w.Header().Set("Content-Length", "0")
		w.Header().Set("X-Own", "set before")
		w.WriteHeader(http.StatusOK)
		check(control.Flush())
		result = failure("no such order")
	case "empty":
		w.WriteHeader(http.StatusNoContent)
		check(control.Flush())
	case "refuses":
		http.Error(w, "not here", http.StatusInternalServerError)
	case "fails":
		_, _ = io.WriteString(w, "half an answer")
		result = failure("no such order")
	case "retries":
		result = failure("not yet")
		if n := len(a.odd); slices.Contains(a.odd, "again") {
			result = success()
		} else {
			a.odd = append(a.odd[:n:n], "again")
		}
		_, _ = io.Copy(w, r.Body)
	case "breaks":
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
		_ = control.Flush() // the caller may have gone
		panic(http.ErrAbortHandler)
	case "closes":
		panic(http.ErrAbortHandler)
	case "idle":
		_, _ = io.WriteString(w, "part")
		check(control.Flush())
		<-r.Context().Done()
	case "whole", "unended": // the function returns when its caller has gone
		if end == "whole" {
			w.Header().Set("Content-Length", "5")
		}
		_, _ = io.WriteString(w, "whole")
		check(control.Flush())
		<-a.cancelled(r.Header.Get("x-ms-invocation-id"))
	case "gone":
		fmt.Println("waiting")
		<-r.Context().Done()
		fmt.Println("the caller has gone")
		result.Status = workerpb.StatusResult_Cancelled
	case "exit":
		os.Exit(7)
	}
}

// seen is what the server of a worker gets.
type seen struct {
	Method, URI      string
	Header           http.Header
	Body, Bare       string
	TransferEncoding []string
	Host             string
}

// live is the caller of a function, while it runs.
type live struct {
	io.Reader
	mu       sync.Mutex // guards:
	status   int
	header   http.Header
	complete bool
	*io.PipeWriter
	got *io.PipeReader
}

func newLive(body io.Reader) *live {
	l := &live{Reader: body}
	l.got, l.PipeWriter = io.Pipe()
	return l
}

func (l *live) Answer(status int, header http.Header) bindings.HTTPAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status, l.header = status, header
	return l
}

func (l *live) Fail(header http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.header = header
}

func (l *live) Trailer(http.Header) {}

func (l *live) Close() error {
	l.mu.Lock()
	l.complete = true
	l.mu.Unlock()
	return l.PipeWriter.Close()
}

// read reads the whole answer in a goroutine.
func (l *live) read() func() string {
	got := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(l.got)
		got <- string(text)
	}()
	return func() string {
		_ = l.PipeWriter.Close()
		return <-got
	}
}

func httpFunction() []worker.Function {
	return []worker.Function{{Name: "Web", Bindings: []worker.Binding{{Name: "in", Type: "queueTrigger", Raw: []byte(`{}`)}}}}
}

// onServer is on with a worker that serves HTTP.
func onServer(t *testing.T, odd string, test func(b *bench)) {
	t.Helper()
	on(t, odd, 0, func(b *bench) {
		if _, err := b.w.Load(context.Background(), httpFunction()); err != nil {
			b.Error(err)
		}
		if !b.w.Streams(true) {
			b.Error("the worker does not stream")
		}
		test(b)
	})
}

// web calls the function by HTTP.
func (b *bench) web(end string, change func(*bindings.HTTPRequest, *call.Request)) (*call.Response, []call.Log, error) {
	r := &bindings.HTTPRequest{
		Method: "POST", URL: "http://host.example:7071/api/a%2Fb/" + end + "?x=1&x=%202", Params: map[string]string{"id": "a/b"}, Caller: "192.0.2.1",
		Header: http.Header{
			"Host": {"host.example:7071"}, "X-Twice": {"1", "2"}, "X-Ms-Invocation-Id": {"forged"}, "Connection": {"close"},
			"X-Forwarded-For": {"198.51.100.1"}, "User-Agent": {"tester"},
		},
		Body: []byte("body"),
	}
	return b.invoke("Web", bindings.Value{Kind: bindings.Request, HTTP: r}, func(q *call.Request) {
		q.Outputs, q.HTTPOutput = []string{"$return"}, "$return"
		if change != nil {
			change(r, q)
		}
	})
}

// The worker's server gets the request as it came, and the stream an empty one; the answer
// comes back as it is, whatever its status (spec workers-dotnet-java 1.10).
func TestForward(t *testing.T) {
	t.Parallel()
	for odd, bare := range map[string]string{"serves": "{}", "serves params": `{"params":{"id":"a/b"}}`, "servesLate": "{}"} {
		t.Run(odd, func(t *testing.T) {
			t.Parallel()
			onServer(t, odd, func(b *bench) {
				resp, _, err := b.web("echo", nil)
				if err != nil || resp.Status != call.Succeeded || resp.Return == nil {
					b.Errorf("got %+v, %v", resp, err)
					return
				}
				answer := resp.Return.HTTPResponse
				if diff := cmp.Diff([]string{"a=1", "b=2"}, answer.Header["Set-Cookie"]); diff != "" || answer.StatusCode != 302 || answer.Header.Get("Location") != "/elsewhere" {
					b.Errorf("answer %d %v", answer.StatusCode, answer.Header)
				}
				var got seen
				if err := json.Unmarshal(answer.Body, &got); err != nil {
					b.Error(err)
				}
				want := seen{Method: "POST", URI: "/api/a%2Fb/echo?x=1&x=%202", Body: "body", Bare: bare, Host: got.Host, Header: http.Header{
					"X-Twice": {"1, 2"}, "X-Ms-Invocation-Id": {"inv Web"}, "User-Agent": {"tester"}, "Content-Length": {"4"},
					"X-Forwarded-For": {"192.0.2.1"}, "X-Forwarded-Host": {"host.example:7071"}, "X-Forwarded-Proto": {"http"},
				}}
				if diff := cmp.Diff(want, got); diff != "" {
					b.Errorf("the server saw (-want +got):\n%s", diff)
				}
				if strings.HasPrefix(got.Host, "host.example") {
					b.Errorf("the server is called %q", got.Host)
				}
			})
		})
	}
}

// Requests and answers are on their way while the function runs.
func TestForwardStreams(t *testing.T) {
	t.Parallel()
	onServer(t, "serves", func(b *bench) {
		body, send := io.Pipe()
		caller := newLive(body)
		go func() { // the caller
			first := make([]byte, len("first "))
			if _, err := io.ReadFull(caller.got, first); err != nil || string(first) != "first " {
				b.Errorf("before the request has ended: %q, %v", first, err)
			}
			_, _ = io.WriteString(send, "last")
			_ = send.Close()
			if rest, err := io.ReadAll(caller.got); err != nil || string(rest) != "last" {
				b.Errorf("then: %q, %v", rest, err)
			}
		}()
		resp, _, err := b.web("halves", func(r *bindings.HTTPRequest, _ *call.Request) { r.Body, r.Stream = nil, caller })
		if err != nil || resp.Status != call.Succeeded || resp.Return != nil || caller.status != 200 || !caller.complete {
			b.Errorf("got %+v, %v, status %d, complete %v", resp, err, caller.status, caller.complete)
		}
		caller = newLive(strings.NewReader(""))
		size := make(chan int64, 1)
		go func() {
			n, _ := io.Copy(io.Discard, caller.got)
			size <- n
		}()
		if resp, _, err := b.web("large", func(r *bindings.HTTPRequest, _ *call.Request) { r.Body, r.Stream = nil, caller }); err != nil || resp.Status != call.Succeeded {
			b.Errorf("got %+v, %v", resp, err)
		}
		if n := <-size; n != 10<<20 {
			b.Errorf("%d bytes came, want 10 MiB", n)
		}
	})
}

// An answer is the function's whatever its status says: it is no failed attempt.
func TestForwardStatus(t *testing.T) {
	t.Parallel()
	onServer(t, "serves", func(b *bench) {
		resp, _, err := b.web("refuses", nil)
		if err != nil || resp.Status != call.Succeeded || resp.Return == nil || resp.Return.HTTPResponse.StatusCode != 500 || string(resp.Return.HTTPResponse.Body) != "not here\n" {
			b.Errorf("got %+v, %v", resp, err)
		}
	})
}

// The head of an answer without a body waits for the outcome of the call: the caller of a
// function that has failed is answered by the host with 500, and with the headers that the
// function has set (host: ExceptionMiddleware.cs).
func TestForwardHeadWaits(t *testing.T) {
	t.Parallel()
	onServer(t, "serves", func(b *bench) {
		for end, want := range map[string]struct {
			outcome call.Status
			status  int
			own     string
		}{"throws": {call.Failed, 0, "set before"}, "empty": {call.Succeeded, 204, ""}} {
			caller := newLive(strings.NewReader(""))
			got := caller.read()
			resp, logs, err := b.web(end, func(r *bindings.HTTPRequest, _ *call.Request) { r.Body, r.Stream = nil, caller })
			if text := got(); err != nil || resp.Status != want.outcome || caller.status != want.status || caller.complete != (want.status != 0) || text != "" || len(logs) > 0 || caller.header.Get("X-Own") != want.own {
				b.Errorf("%s: %+v, %v, %v; the caller got %d %q %q", end, resp, logs, err, caller.status, caller.header, text)
			}
		}
	})
}

// A call has succeeded when both of its halves have.
func TestForwardFailures(t *testing.T) {
	t.Parallel()
	onServer(t, "serves cancels", func(b *bench) {
		resp, logs, err := b.web("fails", nil)
		if err != nil || resp.Status != call.Failed || resp.Error.Message != "no such order" || resp.Return != nil {
			b.Errorf("the function fails: %+v, %v, %v", resp, logs, err)
		}
		// A caller that has its answer never sees the end of it, as the platform's host cuts the
		// connection; the failure is the attempt's all the same.
		body, send := io.Pipe()
		answered := newLive(body)
		go func() { // the caller
			_, _ = io.ReadFull(answered.got, make([]byte, len("answered")))
			_ = send.Close()
			_, _ = io.Copy(io.Discard, answered.got)
		}()
		resp, logs, err = b.web("failsLate", func(r *bindings.HTTPRequest, _ *call.Request) { r.Body, r.Stream = nil, answered })
		if err != nil || resp.Status != call.Failed || resp.Error.Message != "no such order" || answered.status != 200 || answered.complete ||
			len(logs) != 1 || logs[0].Level != call.Warning || logs[0].Message != "the function has failed after the caller got its answer, with status 200" {
			b.Errorf("after the answer: %+v, %v, %v", resp, logs, err)
		}
		for end, want := range map[string]string{"breaks": "its answer broke off", "closes": "without an answer"} {
			resp, _, err := b.web(end, nil)
			if err != nil || resp.Status != call.Failed || !strings.Contains(resp.Error.Message, want) {
				b.Errorf("%s: %+v, %v", end, resp.Error, err)
			}
			caller := newLive(strings.NewReader(""))
			got := caller.read()
			resp, _, err = b.web(end, func(r *bindings.HTTPRequest, _ *call.Request) { r.Body, r.Stream = nil, caller })
			if text := got(); err != nil || resp.Status != call.Failed || caller.complete || end == "breaks" && text != "part" {
				b.Errorf("%s: %+v, %v; the caller got %q", end, resp, err, text)
			}
		}
	})
}

// Every attempt is forwarded anew; its answer is held back, so that a failed one leaves no
// trace at the caller.
func TestForwardRetries(t *testing.T) {
	t.Parallel()
	onServer(t, "serves", func(b *bench) {
		for i, want := range []call.Status{call.Failed, call.Succeeded} {
			resp, _, err := b.web("retries", func(_ *bindings.HTTPRequest, q *call.Request) {
				q.InvocationID = fmt.Sprint("attempt ", i)
				q.Retry = &retrycontext.Context{RetryCount: i, MaxRetryCount: 1}
			})
			if err != nil || resp.Status != want || want == call.Succeeded && string(resp.Return.HTTPResponse.Body) != "body" {
				b.Errorf("attempt %d: %+v, %v", i+1, resp, err)
			}
		}
	})
}

// A worker that waits for a request which cannot reach it is disposed of.
func TestForwardUnmet(t *testing.T) {
	t.Parallel()
	s := spec("grpc servesNobody")
	s.MeetLimit = 50 * time.Millisecond
	w, err := worker.Start(clock.System(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(context.Background()) }()
	if _, err := w.Load(t.Context(), httpFunction()); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, clk: clock.System(), w: w}
	_, _, err = b.web("echo", nil)
	if err == nil || !strings.Contains(err.Error(), `function "Web" did not return: the worker's HTTP server at http://127.0.0.1:`) {
		t.Errorf("got %v", err)
	}
}

// A server that stops in the middle of an answer has failed.
func TestForwardIdle(t *testing.T) {
	t.Parallel()
	s := spec("grpc serves")
	s.IdleLimit = 50 * time.Millisecond
	w, err := worker.Start(clock.System(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(context.Background()) }()
	if _, err := w.Load(t.Context(), httpFunction()); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, clk: clock.System(), w: w}
	resp, _, err := b.web("idle", nil)
	if err != nil || resp.Status != call.Failed || !strings.Contains(resp.Error.Message, "nothing has come or gone for too long") {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// The end of the caller is the end of the request at the worker's server, and the worker
// is told.
func TestForwardCallerGone(t *testing.T) {
	t.Parallel()
	s := spec("grpc serves cancels")
	waiting, gone := make(chan struct{}), make(chan struct{})
	s.Output = func(l process.Line) {
		switch l.Text {
		case "waiting":
			close(waiting)
		case "the caller has gone":
			close(gone)
		}
	}
	w, err := worker.Start(clock.System(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(context.Background()) }()
	if _, err := w.Load(t.Context(), httpFunction()); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, clk: clock.System(), w: w}
	resp, _, err := b.web("gone", func(_ *bindings.HTTPRequest, q *call.Request) {
		q.OnRecall = func(end func()) (ended func()) {
			go func() {
				<-waiting
				end()
			}()
			return func() {}
		}
	})
	if err != nil || resp.Status != call.Cancelled {
		t.Errorf("got %+v, %v", resp, err)
	}
	<-gone
}

// A caller that has its whole answer may go before the function has returned: the call has
// succeeded. One that cannot know whether it has all has gone too early.
func TestForwardCallerHasAll(t *testing.T) {
	t.Parallel()
	onServer(t, "serves cancels", func(b *bench) {
		for end, want := range map[string]call.Status{"whole": call.Succeeded, "unended": call.Failed} {
			caller := newLive(strings.NewReader(""))
			resp, logs, err := b.web(end, func(r *bindings.HTTPRequest, q *call.Request) {
				r.Body, r.Stream = nil, caller
				q.InvocationID = "inv " + end
				q.OnRecall = func(leave func()) (ended func()) {
					go func() { // the caller
						_, _ = io.ReadFull(caller.got, make([]byte, 5))
						leave()
						_, _ = io.Copy(io.Discard, caller.got)
					}()
					return func() { _ = caller.PipeWriter.Close() }
				}
			})
			if err != nil || resp.Status != want || caller.complete != (want == call.Succeeded) || caller.status != 200 {
				b.Errorf("%s: %+v, %v, %v", end, resp, logs, err)
			}
		}
	})
}

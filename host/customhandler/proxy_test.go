//clock:outside sockets and their callers are of the real world

package customhandler_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/customhandler"
	"github.com/redeliver/redeliver/host/process"
)

// caller is the caller of a function while it runs: a bindings.HTTPStream.
type caller struct {
	io.Reader
	io.Writer
	status   chan int
	header   http.Header
	trailer  http.Header
	complete bool
}

func (c *caller) Answer(status int, header http.Header) bindings.HTTPAnswer {
	c.header = header
	c.status <- status
	return c
}

func (c *caller) Fail(http.Header) {}

func (c *caller) Trailer(h http.Header) { c.trailer = h }

func (c *caller) Close() error {
	c.complete = true
	return nil
}

func proxied(path string, stream bindings.HTTPStream) *call.Request {
	return &call.Request{
		InvocationID: "inv", Function: "Web", Outputs: []string{"res"}, HTTPOutput: "res",
		Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
			Method: "POST", URL: "http://shop/api/" + path, Header: http.Header{"X-Ms-Invocation-Id": {"forged"}, "Te": {"trailers"}}, Body: []byte("held"), Stream: stream,
		}}}},
	}
}

func proxies(s *customhandler.Spec) { s.Forward = customhandler.Proxied }

// Each part of a proxied request reaches the handler when it comes, and each part of the
// answer the caller when the handler sends it: the second part of the request is sent when
// the answer to the first is there (spec workers 13.5).
func TestProxy(t *testing.T) {
	t.Parallel()
	h := started(t, proxies)
	if h.Streams(false) || !h.Streams(true) {
		t.Error("a function streams that has more than the answer, or the other does not")
	}
	body, toBody := io.Pipe()
	answer, toAnswer := io.Pipe()
	c := &caller{Reader: body, Writer: toAnswer, status: make(chan int, 1)}
	ended := make(chan error, 1)
	go func() {
		resp, err := h.Invoke(context.Background(), proxied("parts", c), nil)
		if err == nil && (resp.Status != call.Succeeded || len(resp.Outputs) > 0) {
			err = errors.New("no success without outputs")
		}
		ended <- err
		_ = toAnswer.Close()
	}()
	got := make([]byte, 5)
	for _, part := range []string{"one", "two"} {
		_, _ = io.WriteString(toBody, part)
		if _, err := io.ReadFull(answer, got); err != nil || string(got) != "<"+part+">" {
			t.Fatalf("answer %q, %v; want that of part %q", got, err, part)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("the attempt is over before its answer: %v", err)
	default:
	}
	_ = toBody.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if status := <-c.status; status != http.StatusAccepted || c.header.Get("X-Saw") != "inv inv shop" || !c.complete {
		t.Errorf("status %d, header %v, complete: %v", status, c.header, c.complete)
	}
	if n := c.trailer.Get("X-Bytes"); n != "6" || c.header.Get("Trailer")+c.header.Get("Keep-Alive") != "" {
		t.Errorf("trailer %v, header %v", c.trailer, c.header)
	}
}

// Where a policy may repeat the request it is complete, and the answer is held.
func TestProxyHeld(t *testing.T) {
	t.Parallel()
	h := started(t, proxies)
	resp, err := h.Invoke(context.Background(), proxied("parts", nil), nil)
	if err != nil || resp.Outputs["res"].HTTPResponse.StatusCode != http.StatusAccepted || string(resp.Outputs["res"].HTTPResponse.Body) != "<held>" {
		t.Errorf("got %+v, %v", resp, err)
	}
	req := proxied("parts", nil)
	req.Outputs = []string{"res", "more"} // the request is wrapped
	if _, err := h.Invoke(context.Background(), req, nil); !errors.Is(err, process.ErrNoResult) {
		t.Errorf("with another output: %v", err)
	}
}

// A status that cannot be written fails the attempt, and not the host.
func TestProxyOddStatus(t *testing.T) {
	t.Parallel()
	h := started(t, proxies)
	for _, status := range []string{"099", "000", "101"} {
		for _, stream := range []bindings.HTTPStream{nil, &caller{Reader: http.NoBody, Writer: io.Discard, status: make(chan int, 1)}} {
			resp, err := h.Invoke(context.Background(), proxied("odd?status="+status, stream), nil)
			if c, _ := stream.(*caller); err == nil || c != nil && len(c.status) > 0 {
				t.Errorf("status %s: %+v, %v", status, resp, err)
			}
		}
	}
	if resp, err := h.Invoke(context.Background(), proxied("odd?status=999", nil), nil); err != nil || resp.Outputs["res"].HTTPResponse.StatusCode != 999 {
		t.Errorf("status 999: %+v, %v", resp, err)
	}
}

// A caller who goes ends the request to the handler, and costs no process.
func TestProxyCallerGoes(t *testing.T) {
	t.Parallel()
	h := started(t, func(s *customhandler.Spec) {
		proxies(s)
		s.OnExit = func(e process.Exit) {
			if e.Reason != "the host closed it" {
				t.Errorf("process ended: %+v", e)
			}
		}
	})
	answer, toAnswer := io.Pipe()
	req := proxied("endless", &caller{Reader: http.NoBody, Writer: toAnswer, status: make(chan int, 1)})
	var gone func()
	req.OnRecall = func(end func()) func() { gone = end; return func() {} }
	ended := make(chan error, 1)
	go func() {
		_, err := h.Invoke(context.Background(), req, nil)
		ended <- err
	}()
	if _, err := io.ReadFull(answer, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	gone()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("an answer that nobody read is a success")
		}
	case <-time.After(time.Minute): // broken: it goes on until the handler ends
		t.Fatal("the request goes on without its caller")
	}
	for range 1000 { // the handler hears of it a moment later
		resp, err := h.Invoke(context.Background(), proxied("broken", nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(resp.Outputs["res"].HTTPResponse.Body) == "1" {
			return
		}
	}
	t.Error("the handler does not know that the caller has gone")
}

package eventgrid

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

const (
	// keptAnswer is how much of an answer is kept, and skippedAnswer how much more
	// of it is read so that the connection can be used again.
	keptAnswer    = 64 << 10
	skippedAnswer = 1 << 20

	// hookConnections limits the connections to one web hook.
	hookConnections = 64
)

// hooks are the clients of a Grid, one for each web hook: a hook that does not
// answer leaves connections to the others, even at the same port.
type hooks struct {
	mu      sync.Mutex
	clients map[string]*http.Client // by URL
}

func newHooks() *hooks { return &hooks{clients: map[string]*http.Client{}} }

func (h *hooks) client(url string) *http.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients[url] == nil {
		h.clients[url] = newHookClient()
	}
	return h.clients[url]
}

func newHookClient() *http.Client {
	dialer := &net.Dialer{Timeout: ResponseLimit}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			address, err := loopbackAddress(address)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, network, address)
		},
		MaxConnsPerHost: hookConnections, MaxIdleConnsPerHost: hookConnections, IdleConnTimeout: time.Minute,
		DisableCompression: true,
		// Web hooks are on this machine, where certificates are self-made.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // loopback only
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (h *hooks) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, client := range h.clients {
		client.CloseIdleConnections()
	}
}

// webHook is a web hook behind a URL on this machine. Its requests are made
// outside the clock; one that is not answered within [LateLimit], when no answer
// could matter any more, is given up. Redirects are answers like any other.
type webHook struct {
	clk    clock.Clock
	client *http.Client
	url    string
}

// newWebHook returns the endpoint of a URL, which CheckWebHook must have found to
// be right.
func newWebHook(clk clock.Clock, h *hooks, url string) Endpoint {
	return &webHook{clk: clk, client: h.client(url), url: url}
}

// Deliver implements Endpoint.
func (w *webHook) Deliver(ctx context.Context, r *Request) (resp *Response, err error) {
	ctx, cancel := w.clk.WithTimeout(ctx, LateLimit)
	defer cancel()
	w.clk.Outside(ctx, "web hook "+w.url, func() { resp, err = w.post(ctx, r) })
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return resp, err
}

func (w *webHook) post(ctx context.Context, r *Request) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method(), w.url, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header = r.Header()
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, keptAnswer))
	if err == nil {
		_, err = io.CopyN(io.Discard, resp.Body, skippedAnswer)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// nowhere is the endpoint of a function in a Grid without functions.
type nowhere struct{}

func (nowhere) Deliver(context.Context, *Request) (*Response, error) {
	return &Response{Status: http.StatusNotFound}, nil
}

package customhandler

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// forwards reports whether the request of an attempt is handed through (spec workers
// 13.5).
func (s *Spec) forwards(req *call.Request) bool {
	return s.Forward != Never && len(req.Inputs) == 1 && req.Inputs[0].Value.Kind == bindings.Request &&
		len(req.Outputs) == 1 && req.Outputs[0] == req.HTTPOutput
}

// forward hands the HTTP request of an attempt through.
func (c *conn) forward(ctx context.Context, about *call.Request) (*answer, error) {
	original := about.Inputs[0].Value.HTTP
	u, err := url.Parse(original.URL)
	if err != nil {
		return nil, err
	}
	path := u.EscapedPath()
	if c.spec.Forward == ByName {
		path = "/" + url.PathEscape(about.Function)
	}
	target := c.base + path
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	req, err := http.NewRequestWithContext(ctx, original.Method, target, nil)
	if err != nil {
		return nil, err
	}
	// An attempt is one request: one whose body cannot be had again is not sent again by
	// the transport when its connection breaks.
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(original.Body)), int64(len(original.Body))
	req.Header = original.Header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	dropHopByHop(req.Header)
	req.Header.Del("Host")
	if _, given := req.Header["User-Agent"]; !given {
		req.Header.Set("User-Agent", "Azure-Functions-Host/"+c.spec.HostVersion)
	}
	return c.send(req, about)
}

// handedThrough is the outcome of an attempt whose request was handed through: the
// answer as it is, whatever its status.
func (a *answer) handedThrough(req *call.Request) *call.Response {
	dropHopByHop(a.header)
	return &call.Response{Status: call.Succeeded, Outputs: map[string]bindings.Value{req.HTTPOutput: {
		Kind:         bindings.Response,
		HTTPResponse: &bindings.HTTPResponse{StatusCode: a.status, Header: a.header, Body: a.body},
	}}}
}

// dropHopByHop removes headers that belong to one connection.
func dropHopByHop(h http.Header) {
	for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Content-Length"} {
		h.Del(name)
	}
}

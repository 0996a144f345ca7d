package functions

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// serveHTTP rebuilds the request, runs h and keeps its answer as the value of
// the http output.
func serveHTTP(ctx context.Context, c *invocation, h http.HandlerFunc) error {
	in := triggerInput(c.request)
	if in.Value.Kind != bindings.Request || in.Value.HTTP == nil {
		return fmt.Errorf("function %q is an http.HandlerFunc, but its trigger is no HTTP request", c.request.Function)
	}
	r, err := newRequest(ctx, in.Value.HTTP)
	if err != nil {
		return err
	}
	w := &answer{header: make(http.Header)}
	h(w, r)
	v := bindings.Value{Kind: bindings.Response, HTTPResponse: w.response()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setLocked(c.httpOutput(), v)
	return nil
}

// httpOutput is the name of the binding that takes the answer.
func (c *invocation) httpOutput() string {
	switch r := c.request; {
	case r.HTTPOutput != "":
		return r.HTTPOutput
	case !slices.Contains(r.Outputs, returnName) && slices.Contains(r.Outputs, "res"):
		return "res"
	}
	return returnName
}

// newRequest builds what an http.Server would have passed to a handler.
func newRequest(ctx context.Context, in *bindings.HTTPRequest) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if len(in.Body) > 0 {
		body = bytes.NewReader(in.Body)
	}
	r, err := http.NewRequestWithContext(ctx, in.Method, in.URL, body)
	if err != nil {
		return nil, fmt.Errorf("http request: %w", err)
	}
	if r.Body == nil { // a server's request always has one
		r.Body = http.NoBody
	}
	r.RequestURI = r.URL.RequestURI()
	r.GetBody = nil
	r.Header = canonical(in.Header)
	// net/http moves Host out of the header.
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	for name, value := range in.Params {
		r.SetPathValue(name, value)
	}
	return r, nil
}

// canonical returns a copy with the names in the form of package net/http.
func canonical(h http.Header) http.Header {
	another := false // form has one of them
	for name := range h {
		another = another || http.CanonicalHeaderKey(name) != name
	}
	if len(h) > 0 && !another {
		return h.Clone()
	}
	out := make(http.Header, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) { // some may come together
		key := http.CanonicalHeaderKey(name)
		out[key] = append(out[key], h[name]...)
	}
	return out
}

// answer is the http.ResponseWriter of a handler.
type answer struct {
	header http.Header // what the handler sees
	sent   http.Header // as it was when the status was written; nil before
	status int
	body   bytes.Buffer
}

func (w *answer) Header() http.Header { return w.header }

// WriteHeader keeps the first final status; informational ones are dropped, for
// nothing is sent before the handler returns.
func (w *answer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %d", status))
	}
	if w.sent != nil || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	if w.sent == nil {
		w.sent = make(http.Header)
	}
}

func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		return 0, http.ErrBodyNotAllowed
	}
	return w.body.Write(b)
}

func (w *answer) response() *bindings.HTTPResponse {
	w.WriteHeader(http.StatusOK)
	const contentType = "Content-Type"
	if _, set := w.sent[contentType]; !set && w.body.Len() > 0 && w.sent.Get("Content-Encoding") == "" {
		w.sent.Set(contentType, http.DetectContentType(w.body.Bytes()))
	}
	for name := range w.sent { // trailers need streaming
		if strings.HasPrefix(name, http.TrailerPrefix) {
			delete(w.sent, name)
		}
	}
	return &bindings.HTTPResponse{StatusCode: w.status, Header: w.sent, Body: w.body.Bytes()}
}

package customhandler

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	if query := rebuilt(original.Parameters()); query != "" {
		target += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, original.Method, target, nil)
	if err != nil {
		return nil, err
	}
	req.Body, req.ContentLength = bodyOnce(original)
	req.Header = http.Header{}
	for name, values := range original.Header {
		if !slices.Contains(contentHeaders, name) || name == "Content-Type" && len(original.Body) > 0 {
			req.Header[name] = []string{strings.Join(values, separatorOf(name))}
		}
	}
	dropHopByHop(req.Header)
	req.Header.Del("Host")
	req.Header.Set("User-Agent", strings.TrimSpace(req.Header.Get("User-Agent")+" Azure-Functions-Host/"+c.spec.HostVersion))
	return c.send(req, about)
}

// bodyOnce is the body of a request, and its length. An attempt is one request: one whose
// body cannot be had again is not sent again by the transport when its connection breaks.
// Of the methods that the transport would send again none has a body as a rule; the others
// say by Content-Length that they have none, which handlers need that read by the length.
func bodyOnce(r *bindings.HTTPRequest) (io.ReadCloser, int64) {
	usuallyNone := []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete}
	if len(r.Body) == 0 && !slices.Contains(usuallyNone, r.Method) {
		return http.NoBody, 0
	}
	return io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
}

// contentHeaders are headers that .NET keeps with a body; of those the host hands the type
// on alone (host: HttpRequestExtensions.cs ToHttpRequestMessage).
var contentHeaders = []string{ // read only
	"Allow", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location", "Content-Md5", "Content-Range",
	"Content-Type", "Expires", "Last-Modified",
}

// separatorOf stands between the values of a header that came more than once.
func separatorOf(name string) string {
	if name == "Cookie" {
		return "; "
	}
	return ", "
}

// rebuilt is the query that the host makes of the parameters which it has read: of one
// name once, with what .NET leaves as it is beside letters and digits.
func rebuilt(parameters []bindings.Parameter) string {
	plain := strings.NewReplacer("+", "%20", "%21", "!", "%24", "$", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3A", ":", "%3B", ";", "%40", "@")
	parts := make([]string, len(parameters))
	for i, p := range parameters {
		parts[i] = plain.Replace(url.QueryEscape(p.Name)) + "=" + plain.Replace(url.QueryEscape(p.Value))
	}
	return strings.Join(parts, "&")
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

package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
)

// withCustomHeaders adds the headers that extensions.http.customHeaders of host.json asks
// for to an answer, where it does not have them itself: to those of functions and of the
// platform's endpoints, not to the control API (host: CustomHttpHeadersMiddleware.cs).
func (s *Server) withCustomHeaders(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	a := s.host.App()
	if a == nil || len(a.Config.HTTP.CustomHeaders) == 0 || strings.HasPrefix(strings.ToLower(r.URL.Path), ops.Prefix) {
		return w
	}
	return &customHeaders{ResponseWriter: w, more: a.Config.HTTP.CustomHeaders}
}

type customHeaders struct {
	http.ResponseWriter
	more  map[string]string
	added bool
}

// Unwrap lets [http.ResponseController] find what is below.
func (c *customHeaders) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (c *customHeaders) WriteHeader(status int) {
	if status >= 200 {
		c.add()
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *customHeaders) Write(p []byte) (int, error) {
	c.add()
	return c.ResponseWriter.Write(p)
}

func (c *customHeaders) add() {
	if c.added {
		return
	}
	c.added = true
	for name, value := range c.more {
		if h := c.Header(); len(h[http.CanonicalHeaderKey(name)]) == 0 && !slices.Contains(framing, http.CanonicalHeaderKey(name)) {
			h.Set(name, value)
		}
	}
}

// framing are headers that are the server's own business.
var framing = []string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer"} // read only

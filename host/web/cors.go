package web

import (
	"net/http"
	"slices"

	"github.com/redeliver/redeliver/host/listen"
)

// cors answers preflight requests and lets pages of the listed origins read
// answers, as the platform's tool does: any header, any method (cli:
// Startup.cs). An empty list leaves every request as it is.
type cors struct {
	origins     []string
	credentials bool
}

// wrap puts the rules in front of next.
func (c cors) wrap(next http.Handler) http.Handler {
	if len(c.origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Add("Vary", "Origin")
		allowed := c.allow(h, origin)
		method := r.Header.Get("Access-Control-Request-Method")
		if r.Method != http.MethodOptions || method == "" {
			next.ServeHTTP(w, r)
			return
		}
		if allowed {
			h.Set("Access-Control-Allow-Methods", method)
			if wanted := r.Header.Get("Access-Control-Request-Headers"); wanted != "" {
				h.Set("Access-Control-Allow-Headers", wanted)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// allow sets the headers for an origin and reports whether it is allowed.
func (c cors) allow(h http.Header, origin string) bool {
	switch {
	case slices.Contains(c.origins, "*") && !c.credentials:
		h.Set("Access-Control-Allow-Origin", "*")
		return true
	case slices.ContainsFunc(c.origins, func(o string) bool { return listen.SameOrigin(o, origin) }):
		h.Set("Access-Control-Allow-Origin", origin)
		if c.credentials {
			h.Set("Access-Control-Allow-Credentials", "true")
		}
		return true
	}
	return false
}

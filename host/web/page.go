package web

import (
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
)

// PagePath is the path of Options.Page.
const PagePath = ops.Prefix + "/ui/"

// page serves Options.Page to the callers that the guard takes, and reports whether a
// request is one for it. The page's files are public, and a browser cannot send a key
// with the address of a page: so they need none. What the page then asks of the control
// API needs one where the API does.
func (s *Server) page(w http.ResponseWriter, r *http.Request) bool {
	base := PagePath[:len(PagePath)-1]
	if at := r.URL.Path; len(at) < len(base) || !strings.EqualFold(at[:len(base)], base) || len(at) > len(base) && at[len(base)] != '/' {
		return false
	}
	switch {
	case s.opts.Page == nil:
		writeError(w, http.StatusNotFound, "this host serves no page", "start it without --no-ui")
	case !strings.HasPrefix(r.URL.Path, PagePath):
		w.Header().Set("Location", PagePath)
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		http.StripPrefix(base, s.opts.Page).ServeHTTP(w, r)
	}
	return true
}

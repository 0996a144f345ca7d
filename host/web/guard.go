package web

import (
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/host/listen"
)

// Guard says which requests of browsers everything but the functions takes. The host's
// other listeners use the same.
func (s *Server) Guard() *listen.Guard { return s.guard }

// taken reports whether the guard takes a request, and answers one that it does not.
func (s *Server) taken(w http.ResponseWriter, r *http.Request) bool {
	err := s.guard.Check(r)
	if err == nil {
		return true
	}
	var refusal *listen.Refusal
	if errors.As(err, &refusal) {
		writeError(w, http.StatusForbidden, refusal.Reason, refusal.Hint)
	} else {
		writeError(w, http.StatusForbidden, err.Error(), "")
	}
	return false
}

// takenByHook is taken for the web hooks, to which Event Grid comes through tunnels
// of any name: it sends no Origin, and a page always does with a POST.
func (s *Server) takenByHook(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Origin") == "" && !listen.Foreign(r) {
		return true
	}
	return s.taken(w, r)
}

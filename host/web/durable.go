package web

import (
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/durabletask"
)

// isDurableHook reports whether a path belongs to the web hook of Durable Functions.
func isDurableHook(path string) bool {
	n := len(durabletask.HookPath)
	return len(path) >= n && strings.EqualFold(path[:n], durabletask.HookPath) && (len(path) == n || path[n] == '/')
}

// durableHook serves the management API of Durable Functions to those who may use it.
func durableHook(s *Server) http.Handler {
	api := s.host.Durable().Handler(durabletask.WebHook)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.offline(w), !s.takenByHook(w, r):
		case !s.opensWebHook(r, durableKey):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// durableCode is the key in links to that API, which is made where there is none: links have
// one also where nobody checks it.
func durableCode(s *Server) string {
	keys := s.keys
	if keys == nil {
		var err error
		if keys, err = OpenKeys(s.opts.KeysFile); err != nil {
			s.opts.Logger.Warn().Err(err).Msg("links of Durable Functions have no key")
			return ""
		}
	}
	return keys.system(durableKey)
}

package web

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// serveFunction answers a request outside /admin: it finds the function, checks
// the key and hands the request over, body read to its end, so that every
// attempt sees the same one, or as it comes in to a function that takes it so. The
// connection is held for the whole retry loop (spec host-and-retry 9.4).
func (s *Server) serveFunction(w http.ResponseWriter, r *http.Request) {
	if s.offline(w) {
		return
	}
	route, err := s.host.Match(r.Context(), r.Method, r.URL.EscapedPath())
	if errors.Is(err, host.ErrUnknownFunction) && r.URL.Path == "/" {
		s.homePage(w)
		return
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	if s.level(r, route.Function()) < needed(route.AuthLevel()) {
		w.WriteHeader(http.StatusUnauthorized) // without a challenge, which /admin has
		return
	}
	leave, err := s.throttle.enter(r.Context(), s.host.App())
	switch {
	case errors.Is(err, httptrigger.ErrThrottled):
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case err != nil:
		return // the caller has gone
	}
	defer leave()
	if route.Streams() {
		s.stream(w, r, func(req *bindings.HTTPRequest) *bindings.HTTPResponse {
			req.Key = keyOf(s.keys, r, route.Function())
			return s.host.Serve(r.Context(), route, req)
		})
		return
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, s.maxBody()), r.ContentLength)
	if err != nil {
		writeReadError(w, err)
		return
	}
	req := request(r, body)
	req.Key = keyOf(s.keys, r, route.Function())
	resp := s.host.Serve(r.Context(), route, req)
	if resp.Refused != "" {
		s.opts.Logger.Error().Str("function", route.Function()).Str("error", resp.Refused).Msg("answer cannot be sent")
	}
	writeResponse(w, resp)
}

// keyOf is what the caller of a function has proven by a key, also where none is needed
// (host: AuthenticationLevelHandler.cs).
func keyOf(keys *Keys, r *http.Request, function string) bindings.HTTPKey {
	level, name := keys.sent(r, function)
	return bindings.HTTPKey{Level: [...]string{Anonymous: "", SystemLevel: "System", FunctionLevel: "Function", AdminLevel: "Admin"}[level], Name: name}
}

// readAll is io.ReadAll with room for a body of the length that was announced, or -1; not
// for one that is large, since it has not come yet.
func readAll(r io.Reader, length int64) ([]byte, error) {
	const most = 64 << 10
	if length < 0 || length > most {
		return io.ReadAll(r)
	}
	body := make([]byte, 0, length+1) // the last byte is for the read that finds the end
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		}
		body = slices.Grow(body, 1)
	}
}

// needed is the level that an authLevel asks for. The keys of functions are none for the
// levels user and system: of those that a host has here, the master key alone is one (host:
// AuthUtility.cs).
func needed(authLevel string) Level {
	switch authLevel {
	case "anonymous":
		return Anonymous
	case "admin", "user", "system":
		return AdminLevel
	default:
		return FunctionLevel
	}
}

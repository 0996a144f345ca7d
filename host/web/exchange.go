package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host"
)

// maxBody limits the bodies of requests to functions, in bytes (host:
// HttpRequestBodySizeMiddleware.cs).
func (s *Server) maxBody() int64 {
	if s.opts.MaxBody != 0 {
		return s.opts.MaxBody
	}
	if a := s.host.App(); a != nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(a.Settings.Get("FUNCTIONS_REQUEST_BODY_SIZE_LIMIT")), 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return DefaultMaxBody
}

// request turns a request of net/http into the request that a function
// receives. The Host header, which net/http takes out, is among its headers
// again.
func request(r *http.Request, body []byte) *bindings.HTTPRequest {
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	caller, _, _ := net.SplitHostPort(r.RemoteAddr) // empty for what is none
	return &bindings.HTTPRequest{Method: r.Method, URL: displayed(r.URL, r.Host), Header: header, HeaderNames: headerNames(r), Body: body, Caller: caller}
}

// writeResponse writes what a function answered. Lengths and connections are the
// server's business, and no type is guessed that the function did not name.
func writeResponse(w http.ResponseWriter, resp *bindings.HTTPResponse) {
	status := resp.StatusCode
	if status == 0 {
		status = http.StatusOK
	}
	if status < 200 || status > 999 {
		// No client could read it.
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	copyHeader(w.Header(), resp.Header)
	w.WriteHeader(status)
	if status == http.StatusResetContent {
		return // has no body, which package net/http does not know
	}
	_, _ = w.Write(resp.Body) // a caller that has gone needs no answer
}

// copyHeader adds the header of a function's answer to that of ours.
func copyHeader(h, from http.Header) {
	for name, values := range from {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
		case "Vary":
			h[name] = append(h[name], values...) // CORS may have set it
		default:
			h[name] = values
		}
	}
	if h.Get("Content-Type") == "" {
		h["Content-Type"] = nil
	}
}

// refuse answers a request that reached no function.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		w.WriteHeader(http.StatusNotFound)
	case s.offline(w):
	default:
		notRunning(w)
	}
}

// offline answers with app_offline.htm while the app is offline (spec host-and-retry
// 7.4).
func (s *Server) offline(w http.ResponseWriter) bool {
	if s.host.State() != host.Offline {
		return false
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(s.host.OfflinePage())
	return true
}

// notRunning is the answer of a host that is not ready (host:
// HostAvailabilityCheckMiddleware.cs).
func notRunning(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, "Function host is not running.")
}

// writeReadError answers a request whose body could not be read.
func writeReadError(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
}

// queryFold returns the first query parameter of a name in any case.
func queryFold(r *http.Request, name string) string {
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(queryText(key), name) {
			return queryText(value)
		}
	}
	return ""
}

// queryText is a text of a query; one that is not well escaped stays as it is.
func queryText(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

package web

import (
	"io"
	"net/http"
	"strings"
)

// The web hooks of extensions, and the older path of Event Grid's. Paths ignore
// case.
const (
	eventGridHook      = "/runtime/webhooks/eventgrid"
	olderEventGridHook = "/admin/extensions/eventgridextensionconfig"
	eventGridKey       = "eventgrid_extension" // the system key that opens them

	blobHook = "/runtime/webhooks/blobs"
	blobKey  = "blobs_extension"

	durableKey = "durabletask_extension"
)

// isWebHook reports whether a path belongs to an extension's web hook.
func isWebHook(path string) bool {
	path = hookPath(path)
	return path == eventGridHook || path == olderEventGridHook || path == blobHook
}

func hookPath(path string) string { return strings.ToLower(strings.TrimSuffix(path, "/")) }

// serveWebHook hands a request of Event Grid to the function that the query names.
// The connection is held until the function has run, retries included (spec Event
// Grid 5.7).
func (s *Server) serveWebHook(w http.ResponseWriter, r *http.Request) {
	if s.offline(w) {
		return
	}
	if !s.takenByHook(w, r) {
		return
	}
	hook, key := "eventgrid", eventGridKey
	if hookPath(r.URL.Path) == blobHook {
		hook, key = "blobs", blobKey
	}
	if !s.opensWebHook(r, key) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodPost && r.Method != http.MethodOptions {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody()))
	if err != nil {
		writeReadError(w, err)
		return
	}
	writeResponse(w, s.host.ServeHook(r.Context(), hook, queryFold(r, "functionName"), request(r, body)))
}

// opensWebHook reports whether the request has the system key of that name, or the
// master key. Without EnableAuth callers on this machine need none.
func (s *Server) opensWebHook(r *http.Request, name string) bool {
	if s.trusted(r) {
		return true
	}
	if s.keys == nil {
		return false
	}
	key := sentKey(r)
	return s.keys.Level(key, "") == AdminLevel || s.keys.isSystem(name, key)
}

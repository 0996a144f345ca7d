//clock:outside sockets and their callers are of the real world

package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
)

// maxState limits a saved state that is loaded: 64 GiB.
const maxState = 64 << 30

// isState reports whether a request is one whose body is a saved state. The words
// are those of its path, from the empty one before the first slash.
func isState(words []string, method string) bool {
	return method == http.MethodPut && len(words) == 4 && words[2] == "redeliver" && words[3] == "state"
}

// StateLoaded is the result of loading a state.
type StateLoaded struct {
	// MovedMS is by how much the clock was moved to the time of the state, in
	// milliseconds.
	MovedMS int64 `json:"movedMs,omitempty"`
}

// saveState streams the state. A stream that is cut short lacks its end, by which
// a later load knows it.
func (s *Server) saveState(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := &countedWriter{w: w}
	err := s.host.SaveState(out)
	switch {
	case err == nil:
	case out.n == 0:
		writeError(w, http.StatusInternalServerError, err.Error(), "")
	default:
		panic(http.ErrAbortHandler)
	}
}

// countedWriter counts what was written.
type countedWriter struct {
	w io.Writer
	n int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (s *Server) loadState(w http.ResponseWriter, r *http.Request) {
	moved, err := s.host.LoadState(r.Body)
	if err != nil {
		stateError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, StateLoaded{MovedMS: moved.Milliseconds()})
}

func (s *Server) resetState(w http.ResponseWriter, _ *http.Request) {
	if err := s.host.ResetState(); err != nil {
		stateError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// stateError says why a state did not take the place of another, which stays.
func stateError(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	var corrupt *store.CorruptError
	var version *store.VersionError
	var body *listen.BodyError
	switch {
	case errors.As(err, &body):
		controlReadError(w, err)
	case errors.As(err, &tooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a saved state has at most %d bytes", int64(maxState)), "")
	case errors.As(err, &corrupt):
		writeError(w, http.StatusBadRequest, `this is not a file of "redeliver state save", or it is damaged: `+corrupt.Error(), "nothing has changed")
	case errors.As(err, &version):
		writeError(w, http.StatusBadRequest, version.Error(), "nothing has changed")
	case errors.Is(err, store.ErrDiskFull):
		writeError(w, http.StatusInsufficientStorage, err.Error(), "nothing has changed")
	default:
		writeError(w, http.StatusInternalServerError, err.Error(), "")
	}
}

//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"io"
	"net/http"

	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/host/web/control"
)

// saveState streams the state. A stream that is cut short lacks its end, by which
// a later load knows it.
func (s *Server) saveState(w http.ResponseWriter, _ *http.Request, _ control.SaveState) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := &countedWriter{w: w}
	err := s.host.SaveState(out)
	switch {
	case err == nil:
		return nil
	case out.n == 0:
		return refuse(http.StatusInternalServerError, err.Error(), "")
	}
	panic(http.ErrAbortHandler)
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

func (s *Server) loadState(_ context.Context, in control.LoadState) (control.StateLoaded, error) {
	moved, err := s.host.LoadState(in.Archive)
	return control.StateLoaded{MovedMS: moved.Milliseconds()}, err
}

func (s *Server) resetState(context.Context, control.ResetState) (api.None, error) {
	return api.None{}, s.host.ResetState()
}

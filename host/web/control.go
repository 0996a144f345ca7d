package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
)

// ControlPrefix is the path below which the control API lives.
const ControlPrefix = "/admin/redeliver"

// controlRoutes adds the control API; the package comment has the table.
func (s *Server) controlRoutes(mux *http.ServeMux) {
	own := http.NewServeMux()
	handle := func(method, path string, h http.HandlerFunc) {
		own.HandleFunc(method+" "+ControlPrefix+path, h)
	}
	handle("GET", "/status", s.status)
	handle("GET", "/inventory", s.inventory)
	handle("GET", "/queues", s.embedded(s.listQueues))
	handle("POST", "/queues/{name}/messages", s.embedded(s.send))
	handle("GET", "/queues/{name}/messages", s.embedded(s.peek))
	handle("DELETE", "/queues/{name}/messages", s.embedded(s.clear))
	handle("POST", "/queues/{name}/redrive", s.embedded(s.redrive))
	handle("PUT", "/containers/{container}/blob", s.embedded(s.upload))
	handle("GET", "/containers/{container}/blob", s.embedded(s.download))
	s.busRoutes(handle)
	s.gridRoutes(handle)
	s.hubRoutes(handle)
	s.cosmosRoutes(handle)
	s.outputRoutes(handle)
	handle("POST", "/functions/{name}/invoke", s.invoke)
	handle("GET", "/journal", s.journal)
	handle("GET", "/clock", s.clockStatus)
	handle("POST", "/clock/advance", s.advance)
	handle("GET", "/state", s.saveState)
	handle("PUT", "/state", s.loadState)
	handle("DELETE", "/state", s.resetState)
	handle("POST", "/reload", s.reload)
	if s.opts.Secret != "" {
		handle("GET", "/identity", s.identity)
	}
	if s.opts.Stop != nil {
		handle("POST", "/stop", s.stop)
	}
	mux.Handle(ControlPrefix+"/", own)
}

// embedded serves requests about the embedded account, and refuses them where the
// app uses another: what they put there nobody would ever find.
func (s *Server) embedded(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if setting := s.host.StorageOutside(); setting != "" {
			writeError(w, http.StatusConflict, setting+" is an account outside this host", "this command is for the embedded account; use a client of that account, or the command of the host that serves it")
			return
		}
		h(w, r)
	}
}

// Status is the state of a host and what it runs.
type Status struct {
	Version    string      `json:"version"`
	PID        int         `json:"pid"`
	App        string      `json:"app"` // absolute path of the app folder
	State      host.State  `json:"state"`
	Ready      bool        `json:"ready"`
	Errors     []string    `json:"errors,omitempty"`
	Generation int         `json:"generation"`
	Report     *app.Report `json:"report,omitempty"` // of the running generation
	Clock      ClockStatus `json:"clock"`
}

// ClockStatus is the time of a host. Elapsed times count from the making of the
// clock, in milliseconds.
type ClockStatus struct {
	Now              time.Time `json:"now"`
	Virtual          bool      `json:"virtual"`
	VirtualElapsedMS int64     `json:"virtualElapsedMs,omitempty"`
	RealElapsedMS    int64     `json:"realElapsedMs,omitempty"`
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	st := Status{
		Version:    s.host.Version(),
		PID:        os.Getpid(),
		App:        s.host.Dir(),
		State:      s.host.State(),
		Errors:     s.host.Errors(),
		Generation: s.host.Generation(),
		Clock:      s.timeNow(),
	}
	st.Ready = st.State == host.Running
	if a := s.host.App(); a != nil {
		st.Report = app.Check(a)
	}
	writeJSON(w, http.StatusOK, st)
}

func (s *Server) timeNow() ClockStatus {
	st := ClockStatus{Now: s.host.Clock().Now()}
	if v, ok := s.host.Clock().(*clock.Virtual); ok {
		virtual, real := v.Elapsed()
		st.Virtual, st.VirtualElapsedMS, st.RealElapsedMS = true, virtual.Milliseconds(), real.Milliseconds()
	}
	return st
}

func (s *Server) clockStatus(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, s.timeNow())
}

// LongestAdvance limits one step of the clock: a year.
const LongestAdvance = 366 * 24 * time.Hour

func (s *Server) advance(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("by")
	by, err := time.ParseDuration(text)
	if err != nil || by <= 0 || by > LongestAdvance {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("by %q: want a duration above 0 and at most 8784h", text), `its units are h, m, s and ms, for instance "15m", "1h30m" or "192h"`)
		return
	}
	if !s.host.Advance(by) {
		writeError(w, http.StatusConflict, "the host runs on the clock of the system: it cannot be moved", "")
		return
	}
	writeJSON(w, http.StatusOK, s.timeNow())
}

// InvokeResult is what came of a call by hand, all attempts made.
type InvokeResult struct {
	Succeeded bool            `json:"succeeded"`
	Attempts  int             `json:"attempts"`
	Error     string          `json:"error,omitempty"` // the last attempt's
	Response  *InvokeResponse `json:"response,omitempty"`
}

// InvokeResponse is the answer of an HTTP-triggered function.
type InvokeResponse struct {
	StatusCode int         `json:"statusCode"`
	Header     http.Header `json:"headers,omitempty"`
	Body       []byte      `json:"body,omitempty"` // base64
}

func (s *Server) invoke(w http.ResponseWriter, r *http.Request) {
	input, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	res, err := s.host.Invoke(r.Context(), r.PathValue("name"), string(input))
	if err != nil {
		s.controlError(w, err)
		return
	}
	out := InvokeResult{Succeeded: res.Err == nil, Attempts: res.Attempts}
	if res.Err != nil {
		out.Error = res.Err.Error()
	}
	if resp := res.Response; resp != nil {
		out.Response = &InvokeResponse{StatusCode: resp.StatusCode, Header: resp.Header, Body: resp.Body}
		if out.Response.StatusCode == 0 {
			out.Response.StatusCode = http.StatusOK
		}
	}
	writeJSON(w, http.StatusOK, out)
}

// Reloaded is the result of a reload that was not refused.
type Reloaded struct {
	Generation int        `json:"generation"`
	State      host.State `json:"state"`
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	if err := s.host.Reload(r.Context()); err != nil {
		var load *host.LoadError
		if errors.As(err, &load) {
			writeError(w, http.StatusConflict, err.Error(), "the running app goes on unchanged")
			return
		}
		s.controlError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, Reloaded{Generation: s.host.Generation(), State: s.host.State()})
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusAccepted)
	s.opts.Stop()
}

// controlReadError answers a request whose body could not be read.
func controlReadError(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("too large: a request has at most %d bytes, blobs and saved states excepted", tooLarge.Limit), "")
		return
	}
	writeError(w, http.StatusBadRequest, "the request was not complete: "+err.Error(), "")
}

// controlError answers with what the host had to say.
func (s *Server) controlError(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		writeError(w, http.StatusNotFound, err.Error(), `"redeliver ls functions" lists the functions`)
	case errors.Is(err, host.ErrNotRunning):
		writeError(w, http.StatusServiceUnavailable, err.Error(), "")
	default:
		writeError(w, http.StatusBadRequest, err.Error(), "")
	}
}

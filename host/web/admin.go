package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
)

// adminRoutes adds the platform's endpoints below /admin (spec host-and-retry 9.5;
// host: FunctionsController.cs, HostController.cs).
func (s *Server) adminRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /admin/functions/{name}", s.invokeByAdmin)
	mux.HandleFunc("GET /admin/functions", s.listFunctions)
	mux.HandleFunc("GET /admin/functions/{name}", s.getFunction)
	mux.HandleFunc("GET /admin/functions/{name}/status", s.functionStatus)
	mux.HandleFunc("GET /admin/host/status", s.hostStatus)
	mux.HandleFunc("GET /admin/host/ping", s.ping)
	mux.HandleFunc("POST /admin/host/ping", s.ping)
	mux.HandleFunc("POST /admin/host/drain", s.drain)
	mux.HandleFunc("GET /admin/host/drain/status", s.drainStatus)
	mux.HandleFunc("POST /admin/host/resume", s.resume)
	mux.HandleFunc("POST /admin/host/restart", s.restart)
	mux.HandleFunc("POST /admin/host/synctriggers", s.syncTriggers)
	mux.HandleFunc("POST /admin/host/log", s.hostLog)
}

// functionInfo is a function as the admin API shows it (host:
// FunctionMetadataResponse.cs).
type functionInfo struct {
	Name              string            `json:"name"`
	ScriptRootHref    string            `json:"script_root_path_href"`
	ScriptHref        *string           `json:"script_href"`
	ConfigHref        *string           `json:"config_href"`
	TestDataHref      string            `json:"test_data_href"`
	Href              string            `json:"href"`
	InvokeURLTemplate *string           `json:"invoke_url_template"`
	Language          string            `json:"language"`
	Config            json.RawMessage   `json:"config"`
	Files             map[string]string `json:"files"`
	TestData          string            `json:"test_data"`
	IsDisabled        bool              `json:"isDisabled"`
	IsDirect          bool              `json:"isDirect"`
	IsProxy           bool              `json:"isProxy"`
}

// describe returns what the admin API shows of a function. The href members
// name the platform's places; those below /admin/vfs are not served here.
func describe(a *app.App, f *app.Function, base string) functionInfo {
	vfs := base + "/admin/vfs/" + f.Name + "/"
	info := functionInfo{
		Name:           f.Name,
		ScriptRootHref: vfs,
		TestDataHref:   base + "/admin/vfs/data/functions/sampledata/" + f.Name + ".dat",
		Href:           base + "/admin/functions/" + f.Name,
		Language:       language(a),
		Config:         f.Config,
		IsDisabled:     f.Disabled,
	}
	if info.Config == nil {
		info.Config = json.RawMessage("{}")
	}
	if f.ScriptFile != "" {
		info.ScriptHref = text(base + "/admin/vfs/" + f.ScriptFile)
	}
	if f.File != "" {
		info.ConfigHref = text(vfs + "function.json")
	}
	if f.Routed() {
		info.InvokeURLTemplate = text(strings.ToLower(base + "/" + strings.TrimPrefix(app.RouteTemplate(a, f), "/")))
	}
	return info
}

func text(s string) *string { return &s }

// language is the name of the language that the app's handler is written in,
// as far as the host knows.
func language(a *app.App) string {
	switch a.Handler.Kind {
	case app.GoSource:
		return "go"
	case app.Language:
		return a.Handler.Runtime
	default:
		return "custom"
	}
}

// base is the server's own address, as the caller knows it.
func base(r *http.Request) string { return "http://" + r.Host }

// running returns the app of the running generation, after waiting for one if need
// be, or answers with 503.
func (s *Server) running(w http.ResponseWriter, r *http.Request) *app.App {
	if err := s.host.Ready(r.Context()); err != nil {
		s.refuse(w, err)
		return nil
	}
	a := s.host.App()
	if a == nil { // it has just stopped
		s.refuse(w, host.ErrNotRunning)
	}
	return a
}

func (s *Server) listFunctions(w http.ResponseWriter, r *http.Request) {
	a := s.running(w, r)
	if a == nil {
		return
	}
	list := []functionInfo{}
	for _, f := range a.Functions {
		list = append(list, describe(a, f, base(r)))
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) getFunction(w http.ResponseWriter, r *http.Request) {
	a := s.running(w, r)
	if a == nil {
		return
	}
	f := a.Function(r.PathValue("name"))
	if f == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	writeJSON(w, http.StatusOK, describe(a, f, base(r)))
}

// functionStatus shows what puts a function in error.
func (s *Server) functionStatus(w http.ResponseWriter, r *http.Request) {
	a := s.running(w, r)
	if a == nil {
		return
	}
	f := a.Function(r.PathValue("name"))
	if f == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var status struct {
		Errors []string `json:"errors,omitempty"`
	}
	if f.NotServed != "" {
		status.Errors = append(status.Errors, f.NotServed)
	}
	for _, fault := range f.Faults {
		status.Errors = append(status.Errors, fault.Error())
	}
	writeJSON(w, http.StatusOK, status)
}

// invokeByAdmin starts a function and answers at once; nothing waits for the run.
func (s *Server) invokeByAdmin(w http.ResponseWriter, r *http.Request) {
	input, err := readInput(r.Body)
	if err != nil {
		writeReadError(w, err)
		return
	}
	switch err := s.host.InvokeAsync(r.Context(), r.PathValue("name"), input); {
	case err == nil:
		w.WriteHeader(http.StatusAccepted)
	case errors.Is(err, host.ErrUnknownFunction):
		w.WriteHeader(http.StatusNotFound)
	case errors.Is(err, host.ErrNotRunning):
		s.refuse(w, err)
	default:
		writeError(w, http.StatusBadRequest, err.Error(), "")
	}
}

// readInput reads {"input": "<text>"}. Like the platform's reader it takes a
// scalar as its text; input may be absent or null.
func readInput(body io.Reader) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	if members == nil {
		return "", errors.New("no object")
	}
	value, ok := members["input"]
	if !ok {
		for name, v := range members {
			if strings.EqualFold(name, "input") {
				value = v
			}
		}
	}
	var input any
	if value != nil {
		if err := json.Unmarshal(value, &input); err != nil {
			return "", err
		}
	}
	switch input := input.(type) {
	case nil:
		return "", nil
	case string:
		return input, nil
	case bool:
		return strconv.FormatBool(input), nil
	case float64:
		return string(value), nil
	default:
		return "", errors.New("input is not a text")
	}
}

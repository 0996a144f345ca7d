package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/netjson"
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
	mux.HandleFunc("GET /admin/instance/http-health", func(http.ResponseWriter, *http.Request) {})
}

// adminServes reports whether the platform serves a path below /admin by that method. Of
// the paths that it does not have, it asks for no key; no answer to GET is one to HEAD
// (observed of the platform's host 4.1037).
func adminServes(mux *http.ServeMux, r *http.Request) bool {
	_, pattern := mux.Handler(r)
	return pattern != "" && r.Method != http.MethodHead
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
	Language          *string           `json:"language"`
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
		Config:         f.Config,
		IsDisabled:     f.Disabled,
	}
	if l := a.Language(); l != string(app.Custom) {
		info.Language = &l
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
	kind := mediaType(r.Header.Get("Content-Type"))
	if !jsonTypes.MatchString(kind) && !xmlTypes.MatchString(kind) {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	input, err := readInput(r.Body)
	if err == nil && !jsonTypes.MatchString(kind) {
		err = errors.New("an input is JSON here")
	}
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

// The types of bodies that the platform's endpoints read, and those that it tries to (aspnetcore:
// MvcOptions.InputFormatters; observed of the platform's host 4.1037).
var (
	jsonTypes = regexp.MustCompile(`^(?:application/json|text/json|application/[^;]+\+json)$`) // read only
	xmlTypes  = regexp.MustCompile(`^(?:application/xml|text/xml|application/[^;]+\+xml)$`)    // read only
)

// mediaType is a Content-Type without its parameters, in lower case.
func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readInput reads {"input": "<text>"}. Like the platform's reader it takes a
// scalar as its text; input may be absent or null, and what follows the object is not read.
func readInput(body io.Reader) (string, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	first := json.NewDecoder(bytes.NewReader(raw))
	if first.Decode(new(json.RawMessage)) == nil {
		raw = raw[:first.InputOffset()]
	}
	value, err := netjson.Parse(string(raw), nil)
	if err != nil {
		return "", err
	}
	object, ok := value.(*netjson.Object)
	if !ok {
		return "", errors.New("no object")
	}
	var input any
	for _, m := range object.Members { // the last one counts
		if strings.EqualFold(m.Name, "input") {
			input = m.Value
		}
	}
	switch input := input.(type) {
	case nil:
		return "", nil
	case *netjson.Object, []any:
		return "", errors.New("input is not a text")
	case bool:
		return strconv.FormatBool(input), nil
	default:
		return netjson.Text(input), nil
	}
}

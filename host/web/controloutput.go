package web

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/host"
)

// maxPeekedOutputs is how many values of outputs one answer has at most.
const maxPeekedOutputs = 256

// PeekedOutputs is what was recorded of outputs that are not served: the latest values,
// oldest first. Count is how many are kept.
type PeekedOutputs struct {
	Name    string                `json:"name"` // "function" or "function/binding"
	Count   int                   `json:"count"`
	Outputs []host.RecordedOutput `json:"outputs"`
}

// OutputsFailing is the result of making outputs fail: those that do.
type OutputsFailing struct {
	Outputs []host.OutputInfo `json:"outputs"`
}

func (s *Server) outputRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("GET", "/outputs", s.listOutputs)
	handle("GET", "/outputs/values", s.peekOutputs)
	handle("PUT", "/outputs/fault", s.failOutputs)
}

// outputInfos is never nil.
func (s *Server) outputInfos() []host.OutputInfo {
	return append([]host.OutputInfo{}, s.host.OutputInfos()...)
}

func (s *Server) listOutputs(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string][]host.OutputInfo{"outputs": s.outputInfos()})
}

func (s *Server) peekOutputs(w http.ResponseWriter, r *http.Request) {
	most := 32
	if v := r.URL.Query().Get("max"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxPeekedOutputs {
			writeError(w, http.StatusBadRequest, "max must be a number from 1 to 256", "")
			return
		}
		most = n
	}
	name := r.URL.Query().Get("name")
	found, err := s.host.RecordedOutputs(name)
	if err != nil {
		outputError(w, err)
		return
	}
	out := PeekedOutputs{Name: name, Count: len(found), Outputs: []host.RecordedOutput{}}
	out.Outputs = append(out.Outputs, found[max(len(found)-most, 0):]...)
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) failOutputs(w http.ResponseWriter, r *http.Request) {
	times := 1
	if v := r.URL.Query().Get("times"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < -1 {
			writeError(w, http.StatusBadRequest, "times must be a number of 0 or more, or -1 for all", "")
			return
		}
		times = n
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	if err := s.host.FailOutput(r.URL.Query().Get("name"), times, string(text)); err != nil {
		outputError(w, err)
		return
	}
	out := OutputsFailing{Outputs: []host.OutputInfo{}}
	for _, o := range s.host.OutputInfos() {
		if o.Failing != 0 {
			out.Outputs = append(out.Outputs, o)
		}
	}
	writeJSON(w, http.StatusOK, out)
}

func outputError(w http.ResponseWriter, err error) {
	if errors.Is(err, host.ErrUnknownOutput) {
		writeError(w, http.StatusNotFound, err.Error(), `"redeliver ls outputs" lists the recorded outputs; an output is named FUNCTION or FUNCTION/BINDING`)
		return
	}
	writeError(w, http.StatusBadRequest, err.Error(), "")
}

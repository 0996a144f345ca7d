package kit

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/ops"
)

// Call runs a function by hand, for an input of its trigger. Time moves as far as its retries
// need it.
type Call struct {
	ops.Op[Called] `route:"POST /hosts/{id}/call" body:"json"`

	ID       string `path:"id" json:"-"`
	Function string `json:"function"`
	Input    string `json:"input,omitempty"`
}

// Called is how a call has ended.
type Called struct {
	Succeeded bool   `json:"succeeded"`
	Attempts  int    `json:"attempts"`
	Error     string `json:"error,omitempty"`
	Seq       uint64 `json:"seq"`
}

// Do implements the operation.
func (in Call) Do(ctx context.Context, h *Host) (out Called, err error) {
	err = h.running(ctx, func() error {
		name, err := h.session.Known(in.Function)
		if err != nil {
			return refuse(http.StatusNotFound, NotFound, "%v", err)
		}
		err = h.call(func() {
			res := h.session.Host().Call(name, in.Input)
			out = Called{Succeeded: res.Err == nil, Attempts: res.Attempts}
			if res.Err != nil {
				out.Error = res.Err.Error()
			}
		})
		out.Seq = h.session.Host().Journal().Len()
		return err
	})
	return out, err
}

// longestRequest is the longest body of a request of a function, in bytes.
const longestRequest = 100 << 20

// functions serves the HTTP functions of a host. Time moves as far as the answer needs it:
// delays of retries, and what the handler waits for.
func (k *Kit) functions(w http.ResponseWriter, r *http.Request) {
	h := k.host(r.PathValue("id"))
	if h == nil {
		answer(w, unknownHost(r.PathValue("id")))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestRequest))
	if err != nil {
		answer(w, refuse(http.StatusRequestEntityTooLarge, BadRequest, "the request was not complete: %v", err))
		return
	}
	header := r.Header.Clone()
	header.Del("Authorization") // of the kit; a function's own is X-Authorization
	if own := header.Get("X-Redeliver-Authorization"); own != "" {
		header.Del("X-Redeliver-Authorization")
		header.Set("Authorization", own)
	}
	asked := &bindings.HTTPRequest{Method: r.Method, URL: strings.TrimPrefix(r.URL.RequestURI(), Prefix+"/hosts/"+h.id+"/http"), Header: header, Body: body}
	var got *bindings.HTTPResponse
	ask := func() error {
		return h.call(func() { got = h.session.Host().SendRequest(asked, 0) })
	}
	if err := h.running(r.Context(), ask); err != nil {
		answer(w, told(err))
		return
	}
	if got == nil {
		answer(w, refuse(http.StatusGatewayTimeout, StepFailed, "the function has not answered"))
		return
	}
	for name, values := range got.Header {
		w.Header()[name] = values
	}
	w.Header().Del(refusal)
	w.WriteHeader(got.StatusCode)
	_, _ = w.Write(got.Body)
}

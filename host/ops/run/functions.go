package run

import (
	"context"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
)

// FunctionDisabled is the state of a function that Detail says what disables.
const FunctionDisabled = "disabled"

// FunctionInfo is one function of the running generation.
type FunctionInfo struct {
	Name    string `json:"name"`
	Trigger string `json:"trigger,omitempty"`
	Source  string `json:"source,omitempty"` // queue, route, schedule, path
	State   string `json:"state"`            // enabled, disabled, not served, error
	Detail  string `json:"detail,omitempty"`
}

func functionInfos(e *ops.Env) []FunctionInfo {
	out := []FunctionInfo{}
	for _, h := range e.Apps() {
		if a := h.App(); a != nil {
			out = append(out, infosOf(h, a)...)
		}
	}
	return out
}

// infosOf are the functions of one app.
func infosOf(h *host.Host, a *app.App) (out []FunctionInfo) {
	for _, f := range app.Check(a).Functions {
		info := FunctionInfo{Name: ops.Qualified(h, f.Name), Trigger: f.Trigger, Source: f.Source, State: "enabled"}
		def := a.Function(f.Name)
		switch {
		case f.NotServed != "":
			info.State, info.Detail = "not served", f.NotServed
		case f.InError, def != nil && def.InError():
			info.State = "error"
			if def != nil && len(def.Faults) > 0 {
				info.Detail = def.Faults[0].Error()
			}
		case f.Disabled != "":
			info.State, info.Detail = FunctionDisabled, f.Disabled
		default:
			if err := h.ListenerError(f.Name); err != nil {
				info.State, info.Detail = "error", "its listener failed and will start again: "+err.Error()
			}
		}
		out = append(out, info)
	}
	return out
}

// Invoke runs a function by hand, and waits for the whole retry loop; a failure is an
// answer too.
type Invoke struct {
	ops.Op[InvokeResult] `route:"POST /functions/{name}/invoke" clock:"own"`

	Name  string `path:"name"`
	Input []byte `body:"raw"` // the trigger's value
}

func (in Invoke) Do(ctx context.Context, e *ops.Env) (out InvokeResult, err error) {
	of, own := e.Host, in.Name
	if len(e.Apps()) > 1 { // else the host waits until it is ready
		if of, own, err = e.Function(in.Name); err != nil {
			return out, err
		}
	}
	res, err := of.Invoke(ctx, own, string(in.Input))
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		return out, e.NoSuch("function", in.Name, e.FunctionNames())
	case err != nil:
		return out, err
	}
	out = InvokeResult{Succeeded: res.Err == nil, Attempts: res.Attempts}
	if res.Err != nil {
		out.Error = res.Err.Error()
	}
	if resp := res.Response; resp != nil {
		out.Response = &InvokeResponse{StatusCode: resp.StatusCode, Header: resp.Header, Body: resp.Body}
		if out.Response.StatusCode == 0 {
			out.Response.StatusCode = http.StatusOK
		}
	}
	return out, nil
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

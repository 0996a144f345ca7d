package web

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/web/api"
	"github.com/redeliver/redeliver/host/web/control"
	"github.com/redeliver/redeliver/schemas"
)

func (s *Server) status(context.Context, control.GetStatus) (control.Status, error) {
	st := control.Status{
		Version:    s.host.Version(),
		PID:        os.Getpid(),
		App:        s.host.Dir(),
		State:      s.host.State(),
		Errors:     s.host.Errors(),
		Generation: s.host.Generation(),
		Clock:      s.timeNow(),
		Journal:    s.host.Journal().Len(),
	}
	st.Ready = st.State == host.Running
	st.Report, st.Apps = s.report(), s.standings()
	return st, nil
}

func (s *Server) invoke(ctx context.Context, in control.Invoke) (out control.InvokeResult, err error) {
	of, own := s.host, in.Name
	if len(s.apps()) > 1 { // else the host waits until it is ready
		if of, own, err = s.function(in.Name); err != nil {
			return out, err
		}
	}
	res, err := of.Invoke(ctx, own, string(in.Input))
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		return out, s.noSuch("function", in.Name, s.functionNames())
	case err != nil:
		return out, err
	}
	out = control.InvokeResult{Succeeded: res.Err == nil, Attempts: res.Attempts}
	if res.Err != nil {
		out.Error = res.Err.Error()
	}
	if resp := res.Response; resp != nil {
		out.Response = &control.InvokeResponse{StatusCode: resp.StatusCode, Header: resp.Header, Body: resp.Body}
		if out.Response.StatusCode == 0 {
			out.Response.StatusCode = http.StatusOK
		}
	}
	return out, nil
}

func (s *Server) reload(ctx context.Context, _ control.Reload) (out control.Reloaded, err error) {
	if err := s.host.Reload(ctx); err != nil {
		var load *host.LoadError
		if errors.As(err, &load) {
			err = refuse(http.StatusConflict, err.Error(), "the running app goes on unchanged")
		}
		return out, err
	}
	return control.Reloaded{Generation: s.host.Generation(), State: s.host.State()}, nil
}

func (s *Server) describe(w http.ResponseWriter, _ *http.Request, _ control.Describe) error {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(schemas.ControlAPI()) // a caller that has gone needs no answer
	return nil
}

func (s *Server) stop(context.Context, control.Stop) (out api.None, err error) {
	s.opts.Stop()
	return out, nil
}

// identity answers a challenge.
func (s *Server) identity(_ context.Context, in control.Identify) (out control.Identity, err error) {
	if in.Challenge == "" {
		return out, refuse(http.StatusBadRequest, "the parameter challenge is missing", "")
	}
	return in.Answer(s.opts.Secret), nil
}

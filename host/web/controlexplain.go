package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) explain(_ context.Context, in control.Explain) (out explain.Told, err error) {
	about := explain.Subject{Message: in.Message, Apps: map[string]*app.App{}, Report: s.report()}
	for _, h := range s.apps() {
		about.Apps[h.AppName()] = h.App()
	}
	if in.Function != "" {
		of, own, err := s.function(in.Function)
		if err != nil {
			return out, err
		}
		about.Function = qualified(of, own)
	}
	out.Now = s.host.Clock().Now()
	out.Lives, out.More = explain.Latest(s.host.Journal().Records(), about, in.Last)
	if in.Message != "" && len(out.Lives) == 0 {
		what := fmt.Sprintf("the journal has no message, delivery or invocation %q", in.Message)
		if in.Function != "" {
			what += fmt.Sprintf(" of function %q", in.Function)
		}
		return out, refuse(http.StatusNotFound, what, "\"redeliver explain\" without a message tells the latest ones; the journal keeps what happened since the start of the host, up to a limit")
	}
	return out, nil
}

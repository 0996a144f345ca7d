package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/kinds/table"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) explain(_ context.Context, in control.Explain) (out explain.Told, err error) {
	about := explain.Subject{Message: in.Message, Function: in.Function, App: s.host.App()}
	if about.App != nil {
		about.Report = table.Report(about.App, s.host.Services())
	}
	if in.Function != "" && (about.App == nil || about.App.Function(in.Function) == nil) {
		return out, s.noSuch("function", in.Function, s.functionNames())
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

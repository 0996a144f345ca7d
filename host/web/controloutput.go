package web

import (
	"cmp"
	"context"
	"strings"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/web/control"
)

// outputInfos is never nil.
func (s *Server) outputInfos() []recorded.OutputInfo {
	out := []recorded.OutputInfo{}
	for _, h := range s.apps() {
		for _, o := range h.OutputInfos() {
			o.Function = qualified(h, o.Function)
			out = append(out, o)
		}
	}
	return out
}

func (s *Server) listOutputs(context.Context, control.ListOutputs) (control.Outputs, error) {
	return control.Outputs{Outputs: s.outputInfos()}, nil
}

// output is the host of the output that a caller names, "function" or "function/binding",
// and its name there.
func (s *Server) output(name string) (of *host.Host, own string, err error) {
	apps := s.apps()
	if len(apps) == 1 {
		return apps[0], name, nil
	}
	for _, h := range apps {
		if n := len(h.AppName()); len(name) > n && name[n] == '/' && strings.EqualFold(name[:n], h.AppName()) {
			return h, name[n+1:], nil
		}
	}
	function, binding, some := strings.Cut(name, "/")
	of, own, err = s.function(function)
	if some {
		own += "/" + binding
	}
	return of, own, err
}

func (s *Server) peekOutputs(_ context.Context, in control.PeekOutputs) (out control.PeekedOutputs, err error) {
	of, own, err := s.output(in.Name)
	if err != nil {
		return out, err
	}
	found, err := of.RecordedOutputs(own)
	if err != nil {
		return out, err
	}
	for i := range found {
		found[i].Function = qualified(of, found[i].Function)
	}
	out = control.PeekedOutputs{Name: in.Name, Count: len(found), Outputs: []recorded.RecordedOutput{}}
	out.Outputs = append(out.Outputs, found[max(len(found)-cmp.Or(in.Max, len(found)), 0):]...)
	return out, nil
}

func (s *Server) failOutputs(_ context.Context, in control.FailOutputs) (control.Outputs, error) {
	out := control.Outputs{Outputs: []recorded.OutputInfo{}}
	of, own, err := s.output(in.Name)
	if err != nil {
		return out, err
	}
	err = of.FailOutput(own, in.Times, string(in.Error))
	for _, o := range s.outputInfos() {
		if o.Failing != 0 {
			out.Outputs = append(out.Outputs, o)
		}
	}
	return out, err
}

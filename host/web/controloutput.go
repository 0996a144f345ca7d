package web

import (
	"cmp"
	"context"

	"github.com/redeliver/redeliver/host/outputs"
	"github.com/redeliver/redeliver/host/web/control"
)

// outputInfos is never nil.
func (s *Server) outputInfos() []outputs.OutputInfo {
	return append([]outputs.OutputInfo{}, s.host.OutputInfos()...)
}

func (s *Server) listOutputs(context.Context, control.ListOutputs) (control.Outputs, error) {
	return control.Outputs{Outputs: s.outputInfos()}, nil
}

func (s *Server) peekOutputs(_ context.Context, in control.PeekOutputs) (out control.PeekedOutputs, err error) {
	found, err := s.host.RecordedOutputs(in.Name)
	if err != nil {
		return out, err
	}
	out = control.PeekedOutputs{Name: in.Name, Count: len(found), Outputs: []outputs.RecordedOutput{}}
	out.Outputs = append(out.Outputs, found[max(len(found)-cmp.Or(in.Max, len(found)), 0):]...)
	return out, nil
}

func (s *Server) failOutputs(_ context.Context, in control.FailOutputs) (control.Outputs, error) {
	out := control.Outputs{Outputs: []outputs.OutputInfo{}}
	err := s.host.FailOutput(in.Name, in.Times, string(in.Error))
	for _, o := range s.host.OutputInfos() {
		if o.Failing != 0 {
			out.Outputs = append(out.Outputs, o)
		}
	}
	return out, err
}

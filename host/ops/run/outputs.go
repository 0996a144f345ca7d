package run

import (
	"cmp"
	"context"
	"strings"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/recorded"
)

// ListOutputs lists the outputs that are recorded because they are not served, and those
// that are made to fail.
type ListOutputs struct {
	ops.Op[Outputs] `route:"GET /outputs" clock:"own"`
}

func (ListOutputs) Do(_ context.Context, e *ops.Env) (Outputs, error) {
	return Outputs{Outputs: outputInfos(e)}, nil
}

// Outputs are outputs of functions.
type Outputs struct {
	Outputs []recorded.OutputInfo `json:"outputs"`
}

// PeekOutputs shows the latest values of a function's outputs, or of one.
type PeekOutputs struct {
	ops.Op[PeekedOutputs] `route:"GET /outputs/values" verb:"peek" clock:"own"`

	Name string `query:"name,required"` // "function" or "function/binding"
	Max  int    `query:"max" min:"1" want:"a number of 1 or more" usage:"show at most this many values (default all)"`
}

func (in PeekOutputs) Do(_ context.Context, e *ops.Env) (out PeekedOutputs, err error) {
	of, own, err := output(e, in.Name)
	if err != nil {
		return out, err
	}
	found, err := of.RecordedOutputs(own)
	if err != nil {
		return out, err
	}
	for i := range found {
		found[i].Function = ops.Qualified(of, found[i].Function)
	}
	out = PeekedOutputs{Name: in.Name, Count: len(found), Outputs: []recorded.RecordedOutput{}}
	out.Outputs = append(out.Outputs, found[max(len(found)-cmp.Or(in.Max, len(found)), 0):]...)
	return out, nil
}

// PeekedOutputs is what was recorded of outputs that are not served: the latest values,
// oldest first. Count is how many are kept.
type PeekedOutputs struct {
	Name    string                    `json:"name"` // "function" or "function/binding"
	Count   int                       `json:"count"`
	Outputs []recorded.RecordedOutput `json:"outputs"`
}

// FailOutputs makes the next writes of outputs fail, -1 all, 0 none any more. The answer
// is the outputs that fail.
type FailOutputs struct {
	ops.Op[Outputs] `route:"PUT /outputs/fault" verb:"fail" effect:"destroys" clock:"own"`

	Name  string `query:"name,required"`
	Times int    `query:"times" min:"-1" default:"1" want:"a number of 0 or more, or -1 for all" usage:"number of writes that fail; -1 all, 0 none"`
	Error []byte `body:"raw" flag:"error" usage:"the text of the failure"`
}

func (in FailOutputs) Do(_ context.Context, e *ops.Env) (Outputs, error) {
	out := Outputs{Outputs: []recorded.OutputInfo{}}
	of, own, err := output(e, in.Name)
	if err != nil {
		return out, err
	}
	err = of.FailOutput(own, in.Times, string(in.Error))
	for _, o := range outputInfos(e) {
		if o.Failing != 0 {
			out.Outputs = append(out.Outputs, o)
		}
	}
	return out, err
}

// outputInfos is never nil.
func outputInfos(e *ops.Env) []recorded.OutputInfo {
	out := []recorded.OutputInfo{}
	for _, h := range e.Apps() {
		for _, o := range h.OutputInfos() {
			o.Function = ops.Qualified(h, o.Function)
			out = append(out, o)
		}
	}
	return out
}

// output is the host of the output that a caller names, "function" or "function/binding",
// and its name there.
func output(e *ops.Env, name string) (of *host.Host, own string, err error) {
	apps := e.Apps()
	if len(apps) == 1 {
		return apps[0], name, nil
	}
	for _, h := range apps {
		if n := len(h.AppName()); len(name) > n && name[n] == '/' && strings.EqualFold(name[:n], h.AppName()) {
			return h, name[n+1:], nil
		}
	}
	function, binding, some := strings.Cut(name, "/")
	of, own, err = e.Function(function)
	if some {
		own += "/" + binding
	}
	return of, own, err
}

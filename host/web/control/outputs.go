package control

import (
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/web/api"
)

// ListOutputs lists the outputs that are recorded because they are not served, and those
// that are made to fail.
type ListOutputs struct {
	api.Op[Outputs] `route:"GET /outputs"`
}

// Outputs are outputs of functions.
type Outputs struct {
	Outputs []recorded.OutputInfo `json:"outputs"`
}

// PeekOutputs shows the latest values of a function's outputs, or of one.
type PeekOutputs struct {
	api.Op[PeekedOutputs] `route:"GET /outputs/values"`

	Name string `query:"name,required"`                                         // "function" or "function/binding"
	Max  int    `query:"max" min:"1" fault:"max must be a number of 1 or more"` // the latest; absent: all
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
	api.Op[Outputs] `route:"PUT /outputs/fault"`

	Name  string `query:"name,required"`
	Times int    `query:"times" min:"-1" default:"1" fault:"times must be a number of 0 or more, or -1 for all"`
	Error []byte `body:"raw"` // the text of the failure
}

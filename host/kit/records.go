package kit

import (
	"context"
	"encoding/json"

	"github.com/redeliver/redeliver/host/ops"
)

// GetRecords lists the records of the journal, of all runs of the host, that a pattern matches.
// A pattern has the members of a wait's, and is refused as that is: a slip would match nothing.
type GetRecords struct {
	ops.Op[[]json.RawMessage] `route:"POST /hosts/{id}/records" body:"json"`

	ID      string         `path:"id" json:"-"`
	Pattern map[string]any `json:"pattern,omitempty"` // as a wait's; without one all records
}

// Do implements the operation.
func (in GetRecords) Do(ctx context.Context, h *Host) ([]json.RawMessage, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	all := in.Pattern == nil
	want := &wanted{}
	if !all {
		var err error
		if want, err = h.pattern("pattern", in.Pattern); err != nil {
			return nil, err
		}
	}
	out := []json.RawMessage{}
	for _, r := range h.session.Records() {
		if all || want.match(&r) {
			out = append(out, r.AppendLine(nil))
		}
	}
	return out, nil
}

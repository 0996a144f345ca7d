package eventgrid

import (
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
)

// Refusal is the condition of Event Grid.
func Refusal(err error) *ops.Error {
	e, ok := errors.AsType[*eventgrid.Error](err)
	switch {
	case !ok:
		return ops.Refuse(http.StatusServiceUnavailable, err.Error(), "")
	case e.Status == http.StatusNotFound:
		return ops.Refuse(e.Status, e.Message, `"redeliver ls eventgrid" lists the topics; "redeliver create eventgrid TOPIC" makes a topic`)
	case errors.Is(err, eventgrid.ErrNoContainer):
		return ops.Refuse(e.Status, e.Message, `an upload makes its container: "redeliver upload CONTAINER/NAME FILE"`)
	}
	return ops.Refuse(e.Status, e.Message, "")
}

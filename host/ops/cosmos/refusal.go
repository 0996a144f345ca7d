package cosmos

import (
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/ops"
)

// refusal is the condition of Cosmos DB.
func refusal(err error) *ops.Error {
	text := err.Error()
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return ops.Refuse(http.StatusNotFound, text, `"redeliver ls cosmos" lists the containers; case counts in names`)
	case errors.Is(err, bindings.ErrAlreadyExists), errors.Is(err, bindings.ErrConditionNotMet):
		return ops.Refuse(http.StatusConflict, text, "")
	case errors.Is(err, bindings.ErrTooLarge):
		return ops.Refuse(http.StatusRequestEntityTooLarge, text, "")
	case errors.Is(err, bindings.ErrInvalidName):
		return ops.Refuse(http.StatusBadRequest, text, "a container is named DATABASE/CONTAINER")
	case errors.Is(err, bindings.ErrInvalidArgument):
		return ops.Refuse(http.StatusBadRequest, text, "")
	case errors.Is(err, bindings.ErrUnavailable):
		return ops.Refuse(http.StatusServiceUnavailable, text, "")
	}
	return ops.Refuse(http.StatusInternalServerError, text, "")
}

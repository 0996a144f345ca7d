package queues

import (
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/redrive"
)

// Refusal is the condition of queues and blobs.
func Refusal(err error) *ops.Error {
	var blob *storage.Error
	var target *redrive.NoTargetError
	var invisible *redrive.InvisibleError
	text := err.Error()
	switch {
	case errors.As(err, &target):
		return ops.Refuse(http.StatusNotFound, text, "nothing was moved; name another target with --to")
	case errors.As(err, &invisible):
		return ops.Refuse(http.StatusConflict, text, "")
	case errors.Is(err, bindings.ErrMessageNotFound):
		return ops.Refuse(http.StatusNotFound, text, "")
	case errors.As(err, &blob):
		return ops.Refuse(blob.Status, text, "")
	case errors.Is(err, bindings.ErrNotFound):
		return ops.Refuse(http.StatusNotFound, text, `"redeliver ls" lists queues and containers`)
	case errors.Is(err, bindings.ErrInvalidName), errors.Is(err, bindings.ErrOutOfRange):
		return ops.Refuse(http.StatusBadRequest, text, "")
	case errors.Is(err, bindings.ErrTooLarge):
		return ops.Refuse(http.StatusRequestEntityTooLarge, text, "")
	}
	return ops.Refuse(http.StatusInternalServerError, text, "")
}

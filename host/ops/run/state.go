package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops"
)

// SaveState writes what the embedded services hold, as one archive.
type SaveState struct {
	ops.Op[ops.Stream] `route:"GET /state" clock:"own"`
}

// Do streams the state. A stream that is cut short lacks its end, by which a later load
// knows it.
func (SaveState) Do(_ context.Context, e *ops.Env) (ops.Stream, error) {
	out := ops.Untyped()
	out.Write = func(to io.Writer) error {
		if err := e.Host.SaveState(to); err != nil {
			return ops.Refuse(http.StatusInternalServerError, err.Error(), "")
		}
		return nil
	}
	return out, nil
}

// LoadState puts a saved archive in the place of what the embedded services hold; 400,
// and nothing changes, when it is damaged. Deliveries in work settle against nothing.
type LoadState struct {
	ops.Op[StateLoaded] `route:"PUT /state" limit:"68719476736" clock:"own" effect:"destroys"`

	Archive io.Reader `body:"raw"`
}

func (in LoadState) Do(_ context.Context, e *ops.Env) (StateLoaded, error) {
	moved, err := e.Host.LoadState(in.Archive)
	return StateLoaded{MovedMS: moved.Milliseconds()}, refusal(err)
}

// StateLoaded is the result of loading a state.
type StateLoaded struct {
	// MovedMS is by how much the clock was moved to the time of the state, in
	// milliseconds.
	MovedMS int64 `json:"movedMs,omitempty"`
}

// ResetState removes everything that the embedded services hold, and the recorded
// outputs.
type ResetState struct {
	ops.Op[ops.None] `route:"DELETE /state" status:"204" clock:"own"`
}

func (ResetState) Do(_ context.Context, e *ops.Env) (ops.None, error) {
	return ops.None{}, refusal(e.Host.ResetState())
}

// refusal says why a state did not take the place of another, which stays.
func refusal(err error) error {
	const unchanged = "nothing has changed"
	var body *listen.BodyError
	var tooLarge *http.MaxBytesError
	var corrupt *store.CorruptError
	var version *store.VersionError
	switch {
	case err == nil, errors.As(err, &body):
		return err
	case errors.As(err, &tooLarge):
		return ops.Refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("a saved state has at most %d bytes", tooLarge.Limit), "")
	case errors.As(err, &corrupt):
		return ops.Refuse(http.StatusBadRequest, `this is not a file of "redeliver state save", or it is damaged: `+corrupt.Error(), unchanged)
	case errors.As(err, &version):
		return ops.Refuse(http.StatusBadRequest, version.Error(), unchanged)
	case errors.Is(err, store.ErrDiskFull):
		return ops.Refuse(http.StatusInsufficientStorage, err.Error(), unchanged)
	}
	return ops.Refuse(http.StatusInternalServerError, err.Error(), "")
}

package blobs

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/ops"
)

// PurgeContainer removes all blobs of a container, with their snapshots.
type PurgeContainer struct {
	ops.Op[ops.Purged] `step:"purge"`

	Container string `step:"container,place"`
}

func (in PurgeContainer) Do(ctx context.Context, e *ops.Env) (ops.Purged, error) {
	out := ops.Purged{Path: in.Container}
	var names []string
	err := each(ctx, e, in.Container, func(m *ops.ShownMessage, _ []byte) bool {
		names = append(names, m.ID)
		return true
	})
	if errors.Is(err, bindings.ErrNotFound) {
		return out, nil
	}
	for _, name := range names {
		if err == nil {
			out.Removed++
			err = e.Host.AppStorage().Container(in.Container).Blob(name).Delete(ctx, &blob.DeleteOptions{Snapshots: blob.IncludeSnapshots})
		}
	}
	return out, err
}

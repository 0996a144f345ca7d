package blobs

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/ops"
)

// infos lists the containers, sorted by name.
func infos(ctx context.Context, e *ops.Env) ([]ContainerInfo, error) {
	out := []ContainerInfo{}
	opts := &blob.ListContainersOptions{}
	for {
		page, err := e.Host.AppStorage().Containers(ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Containers {
			info, err := containerInfo(ctx, e, item.Name)
			if errors.Is(err, bindings.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return nil, err
			}
			out = append(out, info)
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return out, nil
		}
	}
}

// containerInfo counts the blobs of a container, a page at a time.
func containerInfo(ctx context.Context, e *ops.Env, name string) (ContainerInfo, error) {
	out := ContainerInfo{Name: name}
	opts := &blob.ListOptions{}
	for {
		page, err := e.Host.AppStorage().Container(name).Blobs(ctx, opts)
		if err != nil {
			return out, err
		}
		out.Blobs += len(page.Blobs)
		for i := range page.Blobs {
			out.Bytes += page.Blobs[i].Properties.ContentLength
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return out, nil
		}
		// A large container must not keep all others from their turn.
		if err := e.Host.Clock().Sleep(ctx, 0); err != nil {
			return out, err
		}
	}
}

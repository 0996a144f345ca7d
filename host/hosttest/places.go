package hosttest

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// CreateQueue makes a storage queue, unless it is there.
func (h *Host) CreateQueue(name string) {
	h.tb.Helper()
	h.create("queue "+name, func(ctx context.Context) error {
		return h.Services().Storage().Queue(name).Create(ctx)
	})
}

// CreateContainer makes a container of blobs, unless it is there.
func (h *Host) CreateContainer(name string) {
	h.tb.Helper()
	h.create("container "+name, func(ctx context.Context) error {
		_, err := h.Services().Storage().Container(name).Create(ctx, nil)
		return err
	})
}

func (h *Host) create(what string, make func(context.Context) error) {
	h.tb.Helper()
	var err error
	h.do("create "+what, func() { err = make(context.Background()) })
	if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		h.tb.Fatalf("hosttest: create %s: %v", what, err)
	}
}

// Containers returns the names of the containers of blobs.
func (h *Host) Containers() []string {
	h.tb.Helper()
	return h.list("containers", func(ctx context.Context) (names []string, err error) {
		for opts := (blob.ListContainersOptions{}); ; {
			page, err := h.Services().Storage().Containers(ctx, &opts)
			if err != nil {
				return nil, err
			}
			for _, c := range page.Containers {
				names = append(names, c.Name)
			}
			if opts.Marker = page.NextMarker; opts.Marker == "" {
				return names, nil
			}
		}
	})
}

// EventHubs returns the names of the event hubs.
func (h *Host) EventHubs() []string {
	h.tb.Helper()
	return h.list("event hubs", func(ctx context.Context) (names []string, err error) {
		hubs, err := h.Services().EventHubs().Hubs(ctx)
		for _, hub := range hubs {
			names = append(names, hub.Name)
		}
		return names, err
	})
}

// CosmosContainers returns the containers of Cosmos DB, each as "database/container".
func (h *Host) CosmosContainers() []string {
	h.tb.Helper()
	return h.list("containers of Cosmos DB", func(ctx context.Context) (names []string, err error) {
		containers, err := h.Services().Cosmos().Containers(ctx)
		for _, c := range containers {
			names = append(names, c.Database+"/"+c.Name)
		}
		return names, err
	})
}

func (h *Host) list(what string, look func(context.Context) ([]string, error)) (names []string) {
	h.tb.Helper()
	var err error
	h.do("list "+what, func() { names, err = look(context.Background()) })
	if err != nil {
		h.tb.Fatalf("hosttest: list %s: %v", what, err)
	}
	return names
}

package hosttest

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// blobCalls are the calls of a Host about blobs.
type blobCalls struct{ h *Host }

// Upload writes a blob, "container/name", and replaces an old one. The
// container is made when it does not exist. Deliveries that it starts run
// before Upload returns; time does not move. It returns the blob's ETag.
func (k blobCalls) Upload(path, content string) string {
	k.h.tb.Helper()
	return k.h.UploadBlob(path, content, nil).ETag
}

// UploadBlob is Upload with metadata, headers and the like.
func (k blobCalls) UploadBlob(path, content string, opts *blob.PutOptions) *blob.Written {
	k.h.tb.Helper()
	containerOf(path, func(container string) {
		containerMeant(k.h, container)
		isSure(k.h, "look /"+container)
	})
	var written *blob.Written
	k.h.blob(path, func(ctx context.Context, c blob.Container, b blob.Blob) (err error) {
		if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return err
		}
		written, err = b.Put(ctx, strings.NewReader(content), opts)
		return err
	})
	return written
}

// Download returns the content of a blob, "container/name", and whether there is
// one. Its container is one that Blobs takes.
func (k blobCalls) Download(path string) (content string, ok bool) {
	k.h.tb.Helper()
	containerOf(path, func(name string) { containerThere(k.h, name) })
	k.h.blob(path, func(ctx context.Context, _ blob.Container, b blob.Blob) error {
		download, err := b.Get(ctx, nil)
		if errors.Is(err, bindings.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { _ = download.Body.Close() }() // read only
		raw, err := io.ReadAll(download.Body)
		content, ok = string(raw), true
		return err
	})
	return content, ok
}

// Blobs returns the names of a container's blobs. A container of the app's bindings that does
// not exist has none; one that nothing names ends the test, as a queue does: see Bodies.
func (k blobCalls) Blobs(container string) []string {
	k.h.tb.Helper()
	names := []string{}
	containerOf(container, func(name string) { containerThere(k.h, name) })
	k.h.blob(container+"/*", func(ctx context.Context, c blob.Container, _ blob.Blob) error {
		for opts := (blob.ListOptions{}); ; {
			page, err := c.Blobs(ctx, &opts)
			if errors.Is(err, bindings.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, item := range page.Blobs {
				names = append(names, item.Name)
			}
			if opts.Marker = page.NextMarker; opts.Marker == "" {
				return nil
			}
		}
	})
	return names
}

// WantBlob fails the test unless the blob has that content.
func (k blobCalls) WantBlob(path, want string) {
	k.h.tb.Helper()
	switch got, ok := k.h.Download(path); {
	case !ok:
		k.h.tb.Errorf("blob %q does not exist, want %q", path, want)
	case got != want:
		k.h.tb.Errorf("blob %q holds %q, want %q", path, got, want)
	}
}

// blob runs f on a blob of the embedded account, inside the clock.
func (k blobCalls) blob(path string, f func(context.Context, blob.Container, blob.Blob) error) {
	k.h.tb.Helper()
	container, name, err := blob.ParsePath(path)
	if err != nil {
		k.h.tb.Fatalf("hosttest: %v", err)
	}
	c := k.h.Services().Storage().Container(container)
	k.h.do("blob "+path, func() { err = f(context.Background(), c, c.Blob(name)) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: blob %q: %v", path, err)
	}
}

// CreateContainer makes a container of blobs, unless it is there.
func (k blobCalls) CreateContainer(name string) {
	k.h.tb.Helper()
	create(k.h, "container "+name, func(ctx context.Context) error {
		_, err := k.h.Services().Storage().Container(name).Create(ctx, nil)
		return err
	})
}

// Containers returns the names of the containers of blobs.
func (k blobCalls) Containers() []string {
	k.h.tb.Helper()
	return list(k.h, "containers", func(ctx context.Context) (names []string, err error) {
		for opts := (blob.ListContainersOptions{}); ; {
			page, err := k.h.Services().Storage().Containers(ctx, &opts)
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

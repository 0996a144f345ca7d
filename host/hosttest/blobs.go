package hosttest

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// Upload writes a blob, "container/name", and replaces an old one. The
// container is made when it does not exist. Deliveries that it starts run
// before Upload returns; time does not move. It returns the blob's ETag.
func (h *Host) Upload(path, content string) string {
	h.tb.Helper()
	return h.UploadBlob(path, content, nil).ETag
}

// UploadBlob is Upload with metadata, headers and the like.
func (h *Host) UploadBlob(path, content string, opts *blob.PutOptions) *blob.Written {
	h.tb.Helper()
	containerOf(path, func(container string) {
		containerMeant(h, container)
		isSure(h, "look /"+container)
	})
	var written *blob.Written
	h.blob(path, func(ctx context.Context, c blob.Container, b blob.Blob) (err error) {
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
func (h *Host) Download(path string) (content string, ok bool) {
	h.tb.Helper()
	containerOf(path, func(name string) { containerThere(h, name) })
	h.blob(path, func(ctx context.Context, _ blob.Container, b blob.Blob) error {
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
func (h *Host) Blobs(container string) []string {
	h.tb.Helper()
	names := []string{}
	containerOf(container, func(name string) { containerThere(h, name) })
	h.blob(container+"/*", func(ctx context.Context, c blob.Container, _ blob.Blob) error {
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
func (h *Host) WantBlob(path, want string) {
	h.tb.Helper()
	switch got, ok := h.Download(path); {
	case !ok:
		h.tb.Errorf("blob %q does not exist, want %q", path, want)
	case got != want:
		h.tb.Errorf("blob %q holds %q, want %q", path, got, want)
	}
}

// blob runs f on a blob of the embedded account, inside the clock.
func (h *Host) blob(path string, f func(context.Context, blob.Container, blob.Blob) error) {
	h.tb.Helper()
	container, name, err := blob.ParsePath(path)
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	c := h.Services().Storage().Container(container)
	h.do("blob "+path, func() { err = f(context.Background(), c, c.Blob(name)) })
	if err != nil {
		h.tb.Fatalf("hosttest: blob %q: %v", path, err)
	}
}

package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/ops"
)

// Upload makes the body a blob, and the container when it is missing.
type Upload struct {
	ops.Op[BlobInfo] `route:"PUT /containers/{container}/blob" status:"201" needs:"storage" limit:"-1" clock:"own"`

	Container   string    `path:"container"`
	Name        string    `query:"name,required"`
	Create      bool      `query:"create" usage:"make the container though its name is near to another one"`
	ContentType string    `header:"Content-Type" usage:"content type of the blob (default: guessed)"`
	Body        io.Reader `body:"raw"`
}

// Do keeps a body aside while it arrives, outside the clock, and then makes the blob of it
// in no time. A body that is cut short changes nothing.
func (in Upload) Do(_ context.Context, e *ops.Env) (out BlobInfo, err error) {
	if err := checkNames(in.Container, in.Name); err != nil {
		return out, err
	}
	if !in.Create {
		if err := e.Inside("upload", func(ctx context.Context) error { return e.RefuseSlip(ctx, Service, in.Container) }); err != nil {
			return out, err
		}
	}
	body, err := e.Host.AppStorage().StageBody(in.Body, ops.LengthOf(in.Body), blob.MaxPutBlob)
	if err != nil {
		return out, fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, err)
	}
	defer body.Discard()
	err = e.Inside("upload", func(ctx context.Context) error {
		c := e.Host.AppStorage().Container(in.Container)
		if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return fmt.Errorf("container %q: %w", in.Container, err)
		}
		put, err := c.Blob(in.Name).Put(ctx, body, &blob.PutOptions{Headers: blob.Headers{ContentType: in.ContentType}})
		if err != nil {
			return fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, err)
		}
		out = BlobInfo{Container: in.Container, Name: in.Name, Size: body.Size(), ContentType: in.ContentType, ETag: put.ETag}
		return nil
	})
	return out, err
}

// BlobInfo is a blob of the embedded storage account.
type BlobInfo struct {
	Container   string `json:"container"`
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	ContentType string `json:"contentType"`
	ETag        string `json:"etag"`
}

// Download is the bytes of a blob; the header X-Redeliver-Content-Type has its content
// type.
type Download struct {
	ops.Op[ops.Stream] `route:"GET /containers/{container}/blob" needs:"storage" clock:"own"`

	Container string `path:"container"`
	Name      string `query:"name,required"`
}

func (in Download) Do(_ context.Context, e *ops.Env) (out ops.Stream, err error) {
	if err := checkNames(in.Container, in.Name); err != nil {
		return out, err
	}
	var got *blob.Download
	err = e.Inside("download", func(ctx context.Context) (err error) {
		got, err = e.Host.AppStorage().Container(in.Container).Blob(in.Name).Get(ctx, nil)
		switch {
		case errors.Is(err, storage.ErrContainerNotFound):
			return fmt.Errorf("container %q: %w", in.Container, bindings.ErrNotFound)
		case errors.Is(err, bindings.ErrNotFound):
			return fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, bindings.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out = ops.Untyped()
	out.Header.Set("Content-Disposition", "attachment")
	out.Header.Set("ETag", got.Properties.ETag)
	out.Header.Set(BlobContentType, got.Properties.Headers.ContentType)
	out.Length, out.Known, out.Close = got.Range.Count, true, got.Body.Close
	out.Write = func(w io.Writer) error {
		_, err := io.Copy(w, got.Body)
		return err
	}
	return out, nil
}

// BlobContentType is the header of a download that carries the blob's own content type. The
// answer itself is never typed: a stored blob must not run as a page of the admin API's
// origin.
const BlobContentType = "X-Redeliver-Content-Type"

// checkNames checks the names of a blob. The blob's is not part of the path, whose fixed
// words ignore case.
func checkNames(container, name string) error {
	if err := blob.ValidateContainerName(container); err != nil {
		return err
	}
	return blob.ValidateName(name)
}

// ContainerInfo is a blob container of the embedded storage account.
type ContainerInfo struct {
	Name  string `json:"name"`
	Blobs int    `json:"blobs"` // snapshots and uncommitted blobs do not count
	Bytes int64  `json:"bytes"` // of these blobs
}

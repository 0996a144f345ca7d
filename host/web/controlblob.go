//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings"
)

// BlobContentType is the header of a download that carries the blob's own
// content type. The answer itself is never typed: what somebody stored is not to
// run as a page of the admin API's origin.
const BlobContentType = "X-Redeliver-Content-Type"

// BlobInfo is a blob of the embedded storage account.
type BlobInfo struct {
	Container   string `json:"container"`
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	ContentType string `json:"contentType"`
	ETag        string `json:"etag"`
}

// blobName is the blob that a request is about. It is not part of the path,
// whose fixed words ignore case.
func blobName(r *http.Request) (container, name string, err error) {
	container, name = r.PathValue("container"), r.URL.Query().Get("name")
	if err := bindings.ValidateContainerName(container); err != nil {
		return "", "", err
	}
	return container, name, bindings.ValidateBlobName(name)
}

// isUpload reports whether a request is one whose body is a blob. The words are
// those of its path, from the empty one before the first slash.
func isUpload(words []string, method string) bool {
	return method == http.MethodPut && len(words) == 6 && words[2] == "redeliver" && words[3] == "containers" && words[5] == "blob"
}

// upload keeps a body aside while it arrives, outside the clock, and then makes
// the blob of it in no time. A body that is cut short changes nothing.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	container, name, err := blobName(r)
	if err != nil {
		storageError(w, err)
		return
	}
	body, err := s.host.AppStorage().StageBody(r.Body, max(r.ContentLength, 0), bindings.MaxPutBlob)
	if err != nil {
		storageError(w, fmt.Errorf("blob %q: %w", container+"/"+name, err))
		return
	}
	defer body.Discard()
	opts := &bindings.PutBlobOptions{Headers: bindings.BlobHeaders{ContentType: r.Header.Get("Content-Type")}}
	var put *bindings.Written
	err = s.inside("upload", func(ctx context.Context) error {
		c := s.host.AppStorage().Container(container)
		if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return fmt.Errorf("container %q: %w", container, err)
		}
		if put, err = c.Blob(name).Put(ctx, body, opts); err != nil {
			return fmt.Errorf("blob %q: %w", container+"/"+name, err)
		}
		return nil
	})
	if err != nil {
		storageError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, BlobInfo{
		Container: container, Name: name, Size: body.Size(), ContentType: opts.Headers.ContentType, ETag: put.ETag,
	})
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	container, name, err := blobName(r)
	if err != nil {
		storageError(w, err)
		return
	}
	var got *bindings.BlobDownload
	err = s.inside("download", func(ctx context.Context) error {
		got, err = s.host.AppStorage().Container(container).Blob(name).Get(ctx, nil)
		switch {
		case errors.Is(err, bindings.ErrContainerNotFound):
			return fmt.Errorf("container %q: %w", container, bindings.ErrNotFound)
		case errors.Is(err, bindings.ErrNotFound):
			return fmt.Errorf("blob %q: %w", container+"/"+name, bindings.ErrNotFound)
		}
		return err
	})
	if err != nil {
		storageError(w, err)
		return
	}
	defer got.Body.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Length", strconv.FormatInt(got.Range.Count, 10))
	h.Set("ETag", got.Properties.ETag)
	h.Set(BlobContentType, got.Properties.Headers.ContentType)
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, got.Body); err != nil {
		// Too late for a status: the caller sees an answer that is cut short.
		panic(http.ErrAbortHandler)
	}
}

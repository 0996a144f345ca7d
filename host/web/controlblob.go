//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/listen"
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
	if err := blob.ValidateContainerName(container); err != nil {
		return "", "", err
	}
	return container, name, blob.ValidateName(name)
}

// upload keeps a body aside while it arrives, outside the clock, and then makes
// the blob of it in no time. A body that is cut short changes nothing.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	container, name, err := blobName(r)
	if err != nil {
		storageError(w, err)
		return
	}
	from := &begun{from: r.Body}
	body, err := s.host.AppStorage().StageBody(from, max(r.ContentLength, 0), blob.MaxPutBlob)
	if err != nil {
		storageError(w, fmt.Errorf("blob %q: %w", container+"/"+name, err))
		from.linger(w, r)
		return
	}
	defer body.Discard()
	opts := &blob.PutOptions{Headers: blob.Headers{ContentType: r.Header.Get("Content-Type")}}
	var put *blob.Written
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
	var got *blob.Download
	err = s.inside("download", func(ctx context.Context) error {
		got, err = s.host.AppStorage().Container(container).Blob(name).Get(ctx, nil)
		switch {
		case errors.Is(err, storage.ErrContainerNotFound):
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
	body := &readError{from: got.Body}
	if _, err := io.Copy(w, body); err != nil {
		if body.err != nil { // and not the caller's going away
			s.opts.Logger.Error().Err(body.err).Str("component", "web").Str("blob", container+"/"+name).Msg("a blob could not be read to its end")
		}
		// Too late for a status: the caller sees an answer that is cut short.
		panic(http.ErrAbortHandler)
	}
}

// begun is the body of a request, and whether somebody has begun to read it.
type begun struct {
	from io.Reader
	read bool
}

func (b *begun) Read(p []byte) (int, error) {
	b.read = true
	return b.from.Read(p)
}

// lingering is how long the rest of a refused body is waited for.
const lingering = 2 * time.Second

// linger sends the answer to a body that was refused in its middle, and reads on
// until the sender has seen it: a connection that is closed while bytes are coming
// takes the answer with it. Who was given no leave to send has sent nothing.
func (b *begun) linger(w http.ResponseWriter, r *http.Request) {
	if !b.read {
		return
	}
	_ = http.NewResponseController(w).Flush() // a ResponseWriter of a test has none
	listen.Within(r, lingering)
	_, _ = io.Copy(io.Discard, b.from)
}

// readError remembers why a body could not be read.
type readError struct {
	from io.Reader
	err  error
}

func (r *readError) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

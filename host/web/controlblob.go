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
	"github.com/redeliver/redeliver/host/web/control"
)

// BlobContentType is the header of a download that carries the blob's own
// content type. The answer itself is never typed: a stored blob must not
// run as a page of the admin API's origin.
const BlobContentType = "X-Redeliver-Content-Type"

// blobName checks the names of a blob. The blob's is not part of the path, whose fixed
// words ignore case.
func blobName(container, name string) error {
	if err := blob.ValidateContainerName(container); err != nil {
		return err
	}
	return blob.ValidateName(name)
}

// upload keeps a body aside while it arrives, outside the clock, and then makes
// the blob of it in no time. A body that is cut short changes nothing.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, in control.Upload) error {
	if err := blobName(in.Container, in.Name); err != nil {
		return err
	}
	if !in.Create {
		if err := s.inside("upload", func(ctx context.Context) error { return s.refuseSlip(ctx, "blob", in.Container) }); err != nil {
			return err
		}
	}
	from := &begun{from: in.Body}
	body, err := s.host.AppStorage().StageBody(from, max(r.ContentLength, 0), blob.MaxPutBlob)
	if err != nil {
		writeRefusal(w, "containers", fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, err))
		from.linger(w, r)
		return nil
	}
	defer body.Discard()
	var put *blob.Written
	err = s.inside("upload", func(ctx context.Context) error {
		c := s.host.AppStorage().Container(in.Container)
		if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return fmt.Errorf("container %q: %w", in.Container, err)
		}
		if put, err = c.Blob(in.Name).Put(ctx, body, &blob.PutOptions{Headers: blob.Headers{ContentType: in.ContentType}}); err != nil {
			return fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, err)
		}
		return nil
	})
	if err == nil {
		writeJSON(w, http.StatusCreated, control.BlobInfo{Container: in.Container, Name: in.Name, Size: body.Size(), ContentType: in.ContentType, ETag: put.ETag})
	}
	return err
}

func (s *Server) download(w http.ResponseWriter, _ *http.Request, in control.Download) error {
	if err := blobName(in.Container, in.Name); err != nil {
		return err
	}
	var got *blob.Download
	err := s.inside("download", func(ctx context.Context) (err error) {
		got, err = s.host.AppStorage().Container(in.Container).Blob(in.Name).Get(ctx, nil)
		switch {
		case errors.Is(err, storage.ErrContainerNotFound):
			return fmt.Errorf("container %q: %w", in.Container, bindings.ErrNotFound)
		case errors.Is(err, bindings.ErrNotFound):
			return fmt.Errorf("blob %q: %w", in.Container+"/"+in.Name, bindings.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return err
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
			s.opts.Logger.Error().Err(body.err).Str("component", "web").Str("blob", in.Container+"/"+in.Name).Msg("a blob could not be read to its end")
		}
		// Too late for a status: the caller sees an answer that is cut short.
		panic(http.ErrAbortHandler)
	}
	return nil
}

// begun is the body of a request, and whether its reading has begun.
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
// takes the answer with it. A client without leave to send has sent nothing.
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

package azure

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/redeliver/redeliver/bindings/storage"
)

// spoolAbove is how much of a body waits in memory to be sent; more goes to a
// temporary file. The SDK needs to know a body's length, and to start over.
const spoolAbove = 4 << 20

func bodyOf(b []byte) io.ReadSeekCloser { return streaming.NopCloser(bytes.NewReader(b)) }

// spool reads a body to its end. The caller calls discard once it is sent. Nil
// is an empty body.
func spool(r io.Reader, limit int64) (body io.ReadSeekCloser, size int64, discard func(), err error) {
	if r == nil {
		return bodyOf(nil), 0, func() {}, nil
	}
	head, err := io.ReadAll(io.LimitReader(r, spoolAbove+1))
	if err != nil {
		return nil, 0, nil, err
	}
	if len(head) <= spoolAbove {
		return bodyOf(head), int64(len(head)), func() {}, nil
	}
	file, err := os.CreateTemp("", "redeliver-body-*")
	if err != nil {
		return nil, 0, nil, err
	}
	discard = func() {
		file.Close()
		os.Remove(file.Name())
	}
	size, err = io.Copy(file, io.LimitReader(io.MultiReader(bytes.NewReader(head), r), limit+1))
	if err == nil && size > limit {
		err = storage.NewError(storage.CodeRequestBodyTooLarge)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		discard()
		return nil, 0, nil, err
	}
	return streaming.NopCloser(file), size, discard, nil
}

// download is the content of a blob on its way, with errors in the terms of package
// bindings.
type download struct {
	ctx  context.Context // of the call that opened it
	opts *Options
	body io.ReadCloser
}

func (d *download) Read(p []byte) (n int, err error) {
	err = d.opts.call(d.ctx, func(ctx context.Context) error {
		n, err = d.body.Read(p)
		if err != nil && err != io.EOF {
			err = translateBlob(ctx, err)
		}
		return err
	})
	return n, err
}

func (d *download) Close() error {
	return d.opts.end(d.ctx, func(context.Context) error { return d.body.Close() })
}

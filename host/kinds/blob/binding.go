package blob

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	trigger "github.com/redeliver/redeliver/triggers/blob"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
)

// Binding is the blob input and output.
func Binding() kinds.Binding {
	return kinds.Binding{
		Type:   "blob",
		Output: func(f *kinds.Function, b *app.Binding) (kinds.Output, error) { return newBinding(f, b) },
		Input:  func(f *kinds.Function, b *app.Binding) (kinds.Input, error) { return newBinding(f, b) },
	}
}

// binding reads or writes one blob.
type binding struct {
	b       *app.Binding
	account blob.Account
	path    *bindings.Template
}

func newBinding(f *kinds.Function, b *app.Binding) (*binding, error) {
	account, err := Account(f, b.Connection)
	if err != nil {
		return nil, err
	}
	path, err := bindings.ParseTemplate(b.String("path"))
	if err != nil {
		return nil, err
	}
	return &binding{b: b, account: account.Blobs, path: path}, nil
}

// resolve returns the blob that the binding means in this attempt.
func (o *binding) resolve(a kinds.Attempt) (blob.Container, blob.Blob, error) {
	path, err := o.path.Resolve(a.Data())
	if err != nil {
		return nil, nil, err
	}
	container, name, err := blob.ParsePath(path)
	if err != nil {
		return nil, nil, err
	}
	c := o.account.Container(container)
	return c, c.Blob(name), nil
}

// Read implements kinds.Input: a blob that does not exist is null.
func (o *binding) Read(ctx context.Context, a kinds.Attempt) (bindings.Value, error) {
	_, b, err := o.resolve(a)
	if err != nil {
		return bindings.Value{}, err
	}
	return trigger.Read(ctx, b, o.b.DataType)
}

// Bind implements kinds.Binder: the container is made although nothing may be written
// (webjobs storage extension, BlobsExtensionConfigProvider.cs).
func (o *binding) Bind(ctx context.Context, a kinds.Attempt) error {
	container, b, err := o.resolve(a)
	if err != nil {
		return err
	}
	if _, err := container.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	a.Keep(o.b, b)
	return nil
}

// parentID is the metadata by which the platform ties a blob to the invocation
// that wrote it.
const parentID = "AzureWebJobsParentId"

// errNotBlockBlob has the platform's text.
//
//lint:ignore ST1005 the platform's text
var errNotBlockBlob = errors.New("Cannot bind to page or append blobs using 'out string', 'TextWriter', or writable 'Stream' parameters.")

// blobBlock is the size of the blocks that a blob is written in.
const blobBlock = 4 << 20

// Write implements kinds.Output: a block blob, in the place of what was there. Its
// metadata stays (webjobs storage extension, WriteBlobArgumentBinding.cs).
func (o *binding) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	content, ok, err := blob.ContentFrom(v)
	if err != nil || !ok {
		return err
	}
	b := a.Kept(o.b).(blob.Blob)
	metadata := map[string]string{}
	switch p, err := b.Properties(ctx, nil); {
	case err == nil && p.Type != blob.BlockBlob:
		return errNotBlockBlob
	case err == nil:
		maps.Copy(metadata, p.Metadata)
	case !errors.Is(err, bindings.ErrNotFound):
		return err
	}
	// Names ignore case, and services give them back in another.
	maps.DeleteFunc(metadata, func(name, _ string) bool { return strings.EqualFold(name, parentID) })
	metadata[parentID] = a.Invocation()
	var blocks []blob.BlockRef
	for n := 0; len(content) > 0; n++ {
		id := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", a.Invocation(), n))
		part := content[:min(len(content), blobBlock)]
		content = content[len(part):]
		if _, err := b.PutBlock(ctx, id, bytes.NewReader(part), nil); err != nil {
			return err
		}
		blocks = append(blocks, blob.BlockRef{ID: id, From: blob.Uncommitted})
	}
	_, err = b.PutBlockList(ctx, blocks, &blob.PutOptions{Metadata: metadata})
	return err
}

package host

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/triggers/blob"
)

// input is an input binding of a function, read once in each attempt.
type input interface {
	binding() *app.Binding
	read(ctx context.Context, d *delivery) (bindings.Value, error)
}

// binder is an output that does something before the handler runs.
type binder interface {
	bind(ctx context.Context, d *delivery) error
}

// prepareInputs compiles the input bindings of the function.
func (f *function) prepareInputs() error {
	for _, b := range f.def.Bindings {
		if b.Direction == "out" || b.IsTrigger() {
			continue
		}
		if b.Foreign {
			f.inputs = append(f.inputs, fixedInput{b})
			continue
		}
		if !b.Is("blob") {
			return fmt.Errorf("input binding %q: type %q is not served", b.Name, b.Type)
		}
		in, err := newBlobBinding(f, b)
		if err != nil {
			return err
		}
		f.inputs = append(f.inputs, in)
	}
	return nil
}

// bind makes ready what an attempt needs before the handler runs. It takes no
// part in the function's timeout, and a stop does not cut it short.
func (d *delivery) bind() error {
	if err := d.readInputs(d.f.gen.attempts); err != nil {
		return err
	}
	return d.bindOutputs(d.f.gen.attempts)
}

// readInputs reads the handler's inputs for this attempt, the trigger's value
// first. What cannot be read fails the attempt (sdk: FunctionExecutor.cs).
func (d *delivery) readInputs(ctx context.Context) error {
	d.inputs = d.payload.inputs
	if d.ev.Messages[0].Read == nil && len(d.f.inputs) == 0 {
		return nil
	}
	d.inputs = slices.Clone(d.inputs)
	if read := d.ev.Messages[0].Read; read != nil {
		value, err := read(ctx)
		if err != nil {
			return err
		}
		d.inputs[0].Value = value
	}
	for _, in := range d.f.inputs {
		value, err := in.read(ctx, d)
		if err != nil {
			return fmt.Errorf("input binding %q: %w", in.binding().Name, err)
		}
		d.inputs = append(d.inputs, call.Input{Name: in.binding().Name, Value: value})
	}
	return nil
}

// bindOutputs lets outputs do what precedes the handler.
func (d *delivery) bindOutputs(ctx context.Context) error {
	d.blobs = nil
	for _, out := range d.f.outputs {
		if b, ok := out.(binder); ok {
			if err := b.bind(ctx, d); err != nil {
				return fmt.Errorf("output binding %q: %w", out.binding().Name, err)
			}
		}
	}
	return nil
}

// blobBinding reads or writes one blob.
type blobBinding struct {
	b       *app.Binding
	account blobapi.Account
	path    *bindings.Template
}

func newBlobBinding(f *function, b *app.Binding) (*blobBinding, error) {
	account, err := f.gen.storageAccount(b.Connection)
	if err != nil {
		return nil, err
	}
	path, err := bindings.ParseTemplate(b.String("path"))
	if err != nil {
		return nil, err
	}
	return &blobBinding{b: b, account: account.Blobs, path: path}, nil
}

func (o *blobBinding) binding() *app.Binding { return o.b }

// resolve returns the blob that the binding means in this attempt.
func (o *blobBinding) resolve(d *delivery) (blobapi.Container, blobapi.Blob, error) {
	path, err := o.path.Resolve(d.bindingData())
	if err != nil {
		return nil, nil, err
	}
	container, name, err := blobapi.ParsePath(path)
	if err != nil {
		return nil, nil, err
	}
	c := o.account.Container(container)
	return c, c.Blob(name), nil
}

// read implements input: a blob that does not exist is null.
func (o *blobBinding) read(ctx context.Context, d *delivery) (bindings.Value, error) {
	_, b, err := o.resolve(d)
	if err != nil {
		return bindings.Value{}, err
	}
	return blob.Read(ctx, b, o.b.DataType)
}

// bind implements binder: the container is made although nothing may be written
// (webjobs storage extension, BlobsExtensionConfigProvider.cs).
func (o *blobBinding) bind(ctx context.Context, d *delivery) error {
	container, b, err := o.resolve(d)
	if err != nil {
		return err
	}
	if _, err := container.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	if d.blobs == nil {
		d.blobs = map[string]blobapi.Blob{}
	}
	d.blobs[o.b.Name] = b
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

// write implements output: a block blob, in the place of what was there. Its
// metadata stays (webjobs storage extension, WriteBlobArgumentBinding.cs).
func (o *blobBinding) write(ctx context.Context, d *delivery, v bindings.Value) error {
	content, ok, err := blobapi.ContentFrom(v)
	if err != nil || !ok {
		return err
	}
	b := d.blobs[o.b.Name]
	metadata := map[string]string{}
	switch p, err := b.Properties(ctx, nil); {
	case err == nil && p.Type != blobapi.BlockBlob:
		return errNotBlockBlob
	case err == nil:
		maps.Copy(metadata, p.Metadata)
	case !errors.Is(err, bindings.ErrNotFound):
		return err
	}
	// Names ignore case, and services give them back in another.
	maps.DeleteFunc(metadata, func(name, _ string) bool { return strings.EqualFold(name, parentID) })
	metadata[parentID] = d.base.Invocation
	var blocks []blobapi.BlockRef
	for n := 0; len(content) > 0; n++ {
		id := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", d.base.Invocation, n))
		part := content[:min(len(content), blobBlock)]
		content = content[len(part):]
		if _, err := b.PutBlock(ctx, id, bytes.NewReader(part), nil); err != nil {
			return err
		}
		blocks = append(blocks, blobapi.BlockRef{ID: id, From: blobapi.Uncommitted})
	}
	_, err = b.PutBlockList(ctx, blocks, &blobapi.PutOptions{Metadata: metadata})
	return err
}

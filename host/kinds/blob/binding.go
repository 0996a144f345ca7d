package blob

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// Binding is the blob input and output.
func Binding() kinds.Binding {
	all := []string{"in", "out", "inout"}
	return kinds.Binding{
		BindingKind: app.BindingKind{
			Type: "blob", Of: "Blob storage", Directions: all, Served: all, Connection: "Storage",
			Validate: kinds.Early(badPath), Warn: warn,
		},

		Output: func(f *kinds.Function, b *app.Binding) (kinds.Output, error) { return newBinding(f, b) },
		Input:  func(f *kinds.Function, b *app.Binding) (kinds.Input, error) { return newInput(f, b) },
	}
}

// badPath checks a constant path. One with expressions is checked when it is used (spec
// storage 11.2).
func badPath(b *app.Binding) []*schemas.Fault {
	text := b.String("path")
	template, err := bindings.ParseTemplate(text)
	if err == nil && template.IsConstant() {
		var constant string
		if constant, err = template.Resolve(nil); err == nil {
			_, _, err = parse(b, constant)
		}
	}
	if err == nil {
		return nil
	}
	return []*schemas.Fault{{
		Path: b.PathOf("path"), Found: schemas.Quote(text), Allowed: "container/name", Reason: err.Error(), Kind: schemas.KindArgument,
	}}
}

// parse reads the path of a binding. A library in the worker opens containers too.
func parse(b *app.Binding, path string) (container, name string, err error) {
	if b.Direction == "in" && b.Deferred() {
		return blob.ParseContainerPath(path)
	}
	return blob.ParsePath(path)
}

// warn also says what the platform makes of a binding that is both an input and an output
// (observed: host 4.1037).
func warn(a *app.App, f *app.Function, b *app.Binding) []*schemas.Fault {
	faults := kinds.Late(badPath)(a, f, b)
	if b.Direction == "inout" {
		faults = append(faults, &schemas.Fault{Path: b.PathOf("direction"), Found: schemas.Quote("inout"), Allowed: "in, or out", Reason: app.FailsDeliveries})
	}
	return faults
}

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// feeds reports whether what an output writes can match the pattern of a trigger. One
// text stands for every expression, so a pattern like {name}.jpg does not match an output
// {name}.png.
func feeds(trigger, out *app.Binding) (key, target string) {
	pattern := trigger.String("path")
	p, err := blob.ParsePattern(pattern)
	if err != nil || !out.Is("blob") {
		return "", ""
	}
	container, name, err := blob.ParsePath(expression.ReplaceAllString(out.String("path"), "any"))
	if err != nil {
		return "", ""
	}
	if _, ok := p.Match(container, name); !ok {
		return "", ""
	}
	return "path", `a blob that "` + pattern + `" matches`
}

// binding reads or writes one blob.
type binding struct {
	b       *app.Binding
	account blob.Account
	path    *bindings.Template
	err     error // of a path that is looked at when it is used; then path is nil
}

func newBinding(f *kinds.Function, b *app.Binding) (*binding, error) {
	account, err := Account(f, b.Connection)
	if err != nil {
		return nil, err
	}
	path, err := bindings.ParseTemplate(b.String("path"))
	if err != nil && !kinds.IsLate(f.App()) {
		return nil, err
	}
	return &binding{b: b, account: account.Blobs, path: path, err: err}, nil
}

// resolve returns the blob that the binding means in this attempt. For a container the
// name is empty.
func (o *binding) resolve(a kinds.Attempt) (c blob.Container, name string, err error) {
	if o.err != nil {
		return nil, "", o.err
	}
	path, err := o.path.Resolve(a.Data())
	if err != nil {
		return nil, "", err
	}
	container, name, err := parse(o.b, path)
	if err != nil {
		return nil, "", err
	}
	return o.account.Container(container), name, nil
}

// Bind implements kinds.Binder: the container is made although nothing may be written
// (webjobs storage extension, BlobsExtensionConfigProvider.cs). A path that means no
// blob fails what is written, after the handler (functions host, WorkerFunctionInvoker.cs
// BindOutputsAsync).
func (o *binding) Bind(ctx context.Context, a kinds.Attempt) error {
	container, name, err := o.resolve(a)
	if err != nil {
		a.Keep(o.b, err)
		return nil
	}
	if _, err := container.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return err
	}
	a.Keep(o.b, container.Blob(name))
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
	kept := a.Kept(o.b)
	if err, invalid := kept.(error); invalid {
		return err
	}
	b := kept.(blob.Blob)
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

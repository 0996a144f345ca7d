package blob

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	trigger "github.com/redeliver/redeliver/triggers/blob"
)

// input reads a blob, or says to a library in the worker where it is.
type input struct {
	binding
	f    *kinds.Function
	told sync.Once // that a content is no text
}

func newInput(f *kinds.Function, b *app.Binding) (*input, error) {
	reads, err := newBinding(f, b)
	if err != nil {
		return nil, err
	}
	return &input{binding: *reads, f: f}, nil
}

// Read implements kinds.Input: a blob that does not exist is null.
func (i *input) Read(ctx context.Context, a kinds.Attempt) (bindings.Value, error) {
	c, name, err := i.resolve(a)
	switch {
	case err != nil:
		return bindings.Value{}, err
	case i.b.Deferred() && i.b.Cardinality == "many":
		return i.models(ctx, c, name)
	case i.b.Deferred():
		return trigger.Model(connectionName(i.b), c.Name(), name), nil
	}
	content, err := trigger.Read(ctx, c.Blob(name))
	if content == nil || err != nil {
		return bindings.Value{}, err
	}
	v := blob.ValueFrom(content, i.b.DataType)
	if v.Kind == bindings.String && !utf8.Valid(content) {
		i.told.Do(func() { i.tellBinary(a, c.Name()+"/"+name) })
	}
	return v, nil
}

// models are the blobs of a container whose names begin with a text, each by its place.
//
// Source: webjobs storage extension, BlobsExtensionConfigProvider.cs
// BlobCollectionConverter, for ParameterBindingData.
func (i *input) models(ctx context.Context, c blob.Container, prefix string) (bindings.Value, error) {
	out := bindings.Value{Kind: bindings.Models}
	for marker := ""; ; {
		page, err := c.Blobs(ctx, &blob.ListOptions{Prefix: prefix, Marker: marker})
		if err != nil {
			return bindings.Value{}, err
		}
		for _, item := range page.Blobs {
			out.List = append(out.List, trigger.Model(connectionName(i.b), c.Name(), item.Name))
		}
		if marker = page.NextMarker; marker == "" {
			return out, nil
		}
	}
}

// tellBinary says once for each binding what becomes of bytes in a text.
func (i *input) tellBinary(a kinds.Attempt, path string) {
	rec := i.f.Record(journal.HandlerLog)
	rec.Invocation, rec.Level = a.Invocation(), "warning"
	rec.Message = fmt.Sprintf("input binding %q: blob %q is not UTF-8 text, and what is none of it has become U+FFFD: bind it with dataType binary", i.b.Name, path)
	i.f.Journal.Append(rec)
}

package blob

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/triggers"
)

// Message returns what a function receives for a blob: the bytes of its content, read once
// in each attempt, and the metadata that binding expressions see. The binding's dataType
// does not count. A blob that has gone by then is null. It is also how an admin call hands
// a blob to its function.
//
// Source: BlobTriggerBinding.cs, for the names of the metadata; parameters of the
// pattern win over them. Webjobs sdk, TriggerAdapterBindingProvider.cs GetDefaultType, for
// the bytes.
func (f *Function) Message(container, name string, p *blob.Properties) triggers.Message {
	metadata := map[string]any{
		"BlobTrigger": container + "/" + name,
		"Uri":         bindings.URI(blobURL(f.Account.Endpoint, container, name)),
		"Properties":  plainProperties(p),
		"Metadata":    maps.Clone(p.Metadata),
	}
	if f.Platform {
		metadata["Properties"] = platformProperties(p)
	}
	if p.Metadata == nil {
		metadata["Metadata"] = map[string]string{}
	}
	parameters, _ := f.Pattern.Match(container, name)
	for parameter, value := range parameters {
		for key := range metadata {
			if strings.EqualFold(key, parameter) {
				delete(metadata, key)
			}
		}
		metadata[parameter] = value
	}
	handle := f.Account.Blobs.Container(container).Blob(name)
	return triggers.Message{
		Metadata: metadata,
		Read: func(ctx context.Context) (bindings.Value, error) {
			if f.Deferred != "" {
				return Model(f.Deferred, container, name), nil
			}
			content, err := Read(ctx, handle)
			if content == nil || err != nil {
				return bindings.Value{}, err
			}
			return bindings.BytesValue(content), nil
		},
	}
}

// Model is a blob as model binding data: its place, with the name of the connection.
//
// Source: spec workers-dotnet-java 1.8.
func Model(connection, container, name string) bindings.Value {
	return bindings.ModelValue("AzureStorageBlobs", struct{ Connection, ContainerName, BlobName string }{connection, container, name})
}

// Contract are the names that a blob trigger with this pattern provides to
// binding expressions.
func Contract(pattern *blob.Pattern) []string {
	return append([]string{"BlobTrigger", "Uri", "Properties", "Metadata"}, pattern.Parameters()...)
}

// Read returns a blob's content. Of a missing blob or container it is nil, which is not an
// error.
//
// Source: ReadBlobArgumentBinding.cs.
func Read(ctx context.Context, b blob.Blob) ([]byte, error) {
	download, err := b.Get(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(download.Body) // not nil, for an empty blob either
	if closing := download.Body.Close(); err == nil {
		err = closing
	}
	return content, err
}

func blobURL(endpoint, container, name string) string {
	return strings.TrimSuffix(endpoint, "/") + (&url.URL{Path: "/" + container + "/" + name}).EscapedPath()
}

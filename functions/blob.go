package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
)

// Blob is a blob that triggers a function. Its content is null when the blob was
// deleted since.
type Blob struct {
	// Container and Name say which blob it is.
	Container, Name string
	// URI is its address.
	URI string
	// Content is the blob's content at the start of the attempt; nil when the
	// blob is gone by then.
	Content []byte
	// ContentType, ETag and Length are properties of the version that triggered
	// the function.
	ContentType, ETag string
	Length            int64
	// Metadata is the blob's own metadata, not the trigger's.
	Metadata map[string]string
	// DeliveryCount says how often this version was delivered, this time included.
	DeliveryCount int64
}

// Text returns the content as text.
func (b Blob) Text() string { return string(b.Content) }

// Decode reads the content as JSON into the value that target points to.
func (b Blob) Decode(target any) error {
	if err := json.Unmarshal(b.Content, target); err != nil {
		return fmt.Errorf("blob %s/%s: %w", b.Container, b.Name, err)
	}
	return nil
}

// Blob registers a function that runs for each new or changed blob. path is a
// container, or a container and a pattern for names, such as
// "uploads/{folder}/{name}.csv": the values of {folder} and {name} are
// trigger metadata (Invocation.Metadata) and may be used in the paths of
// outputs.
//
// A version of a blob comes again until the function returns nil for it. It
// is delivered 5 times at most (extensions.blobs.poisonBlobThreshold); then
// a message that names it goes to the queue webjobs-blobtrigger-poison.
func (a *App) Blob(name, path string, h func(ctx context.Context, b Blob) error, opts ...BlobOption) {
	f := a.register(name, h == nil)
	f.trigger = map[string]any{
		"type": "blobTrigger", "direction": "in", "name": "blob", "path": path,
		"dataType": "binary", // the content as it is, also when it is no text
	}
	f.handle = func(ctx context.Context, c *invocation) error { return h(ctx, newBlob(c.request)) }
	for _, o := range opts {
		o.applyBlob(f)
	}
}

func newBlob(r *call.Request) Blob {
	m := Metadata(r.Metadata)
	b := Blob{URI: m.Get("Uri"), DeliveryCount: r.DeliveryCount}
	b.Container, b.Name, _ = strings.Cut(m.Get("BlobTrigger"), "/")
	if in := triggerInput(r); !in.IsNull() {
		b.Content = in.Bytes()
		if b.Content == nil {
			b.Content = []byte{}
		}
	}
	var properties struct {
		ContentType, ETag string
		ContentLength     int64
	}
	// A pattern's parameter of that name hides the properties: zero values then.
	_ = json.Unmarshal([]byte(m.Get("Properties")), &properties)
	b.ContentType, b.ETag, b.Length = properties.ContentType, properties.ETag, properties.ContentLength
	_ = json.Unmarshal([]byte(m.Get("Metadata")), &b.Metadata)
	return b
}

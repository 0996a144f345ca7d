package functions

// BlobOption is an option of [App.Blob].
type BlobOption interface{ applyBlob(*function) }

func (o anyOption) applyBlob(f *function)        { o(f) }
func (o ConnectionOption) applyBlob(f *function) { f.trigger["connection"] = o.setting }

type blobOption func(*function)

func (o blobOption) applyBlob(f *function) { o(f) }

// FromEventGrid has Event Grid tell the function of new and changed blobs, by storage
// events, instead of scans of the container: blobs that were there before are not
// seen. Embedded accounts need nothing else; an account in the cloud needs an event
// subscription that leads to the host's web hook for blobs.
func FromEventGrid() BlobOption {
	return blobOption(func(f *function) { f.trigger["source"] = "EventGrid" })
}

// BlobInput declares a blob as an input of the function, read at the start of each
// attempt: get it with [GetInput] under name, as bytes. It is null when there is no
// such blob. path is "container/name" and may hold binding expressions, such as
// "customers/{customerId}.json".
func BlobInput(name, path string, opts ...OutputOption) Option {
	return blobBinding("in", name, path, opts)
}

// BlobOutput declares an output to a blob. The handler fills it with [SetOutput]
// under name; "$return" stands for the function's return value ([SetReturn]). path
// is "container/name" and may hold binding expressions, such as
// "thumbnails/{name}-{rand-guid}.png". The container is made when it does not
// exist, before the handler runs. The blob is written, or replaced, after the
// handler returned without an error.
func BlobOutput(name, path string, opts ...OutputOption) Option {
	return blobBinding("out", name, path, opts)
}

func blobBinding(direction, name, path string, opts []OutputOption) Option {
	b := map[string]any{"type": "blob", "direction": direction, "name": name, "path": path}
	if direction == "in" {
		b["dataType"] = "binary" // the content as it is, also when it is no text
	}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}

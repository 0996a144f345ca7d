package servicebus

import (
	"github.com/redeliver/redeliver/bindings"
)

// MessagesFrom returns the messages for a value that a handler gives to a
// Service Bus output binding: none for Null, one for each element of a list or
// of a JSON array, one otherwise. Bodies are made as for a queue output; the
// content type names the form of the value: text/plain for text,
// application/json for an object, application/octet-stream for bytes.
//
// Source: spec messaging 2.6; the platform hands values to collectors of every
// kind in the same way (host: FunctionBinding.cs BindAsyncCollectorAsync).
func MessagesFrom(v bindings.Value) ([]*Message, error) {
	bodies, err := bindings.MessagesFrom(v)
	if err != nil {
		return nil, err
	}
	out := make([]*Message, len(bodies))
	for i, body := range bodies {
		out[i] = &Message{Body: body, ContentType: bindings.ContentType(v, body)}
	}
	return out, nil
}

package bindings

// ServiceBusMessagesFrom returns the messages for a value that a handler gives to
// a Service Bus output binding: none for Null, one for each element of a list or
// of a JSON array, one otherwise. Bodies are those of a queue output; the
// content type says what the value was: text/plain for text, application/json for
// an object, application/octet-stream for bytes.
//
// Source: spec messaging 2.6; the platform hands values to collectors of every
// kind in the same way (host: FunctionBinding.cs BindAsyncCollectorAsync).
func ServiceBusMessagesFrom(v Value) ([]*ServiceBusMessage, error) {
	bodies, err := QueueMessagesFrom(v)
	if err != nil {
		return nil, err
	}
	out := make([]*ServiceBusMessage, len(bodies))
	for i, body := range bodies {
		out[i] = &ServiceBusMessage{Body: body, ContentType: ContentType(v, body)}
	}
	return out, nil
}

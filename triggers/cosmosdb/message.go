package cosmosdb

import (
	"bytes"
	"encoding/json"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/triggers"
)

// Message is the value of a function for an input by hand: a JSON array of
// documents.
func Message(input []byte) triggers.Message {
	m := triggers.Message{Value: bindings.StringValue(string(input)), Metadata: map[string]any{}}
	if json.Valid(input) {
		m.Value = bindings.JSONValue(input)
	}
	return m
}

// messageOf is the batch as the function receives it: a JSON array of documents,
// with the properties that the service owns.
func messageOf(items []*cosmos.Item) triggers.Message {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item.Body)
	}
	b.WriteByte(']')
	return Message(b.Bytes())
}

package schemas_test

import (
	"testing"

	"github.com/redeliver/redeliver/schemas"
)

const typicalFunction = `{
  // orders come in here
  "bindings": [
    { "name": "order", "type": "queueTrigger", "direction": "in", "queueName": "orders", "connection": "Storage" },
    { "name": "receipt", "type": "blob", "direction": "out", "path": "receipts/{rand-guid}" },
    { "name": "$return", "type": "queue", "direction": "out", "queueName": "done" },
  ],
  "retry": { "strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:10" }
}
`

// BenchmarkFunctionJSON is the cost of each function at a start and at a
// reload.
func BenchmarkFunctionJSON(b *testing.B) {
	text := []byte(typicalFunction)
	for b.Loop() {
		d, fault := schemas.Parse("Orders/function.json", text)
		if fault != nil {
			b.Fatal(fault)
		}
		if faults := d.Validate(schemas.FunctionJSON); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// BenchmarkParse is the part of the reader alone.
func BenchmarkParse(b *testing.B) {
	text := []byte(typicalFunction)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, fault := schemas.Parse("Orders/function.json", text); fault != nil {
			b.Fatal(fault)
		}
	}
}

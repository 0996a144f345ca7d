package durable_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	contract "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/triggers/durable"
)

// 10.1: by hand too an activity of the protobuf protocol is given JSON, a text with its quotes.
func TestByHand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		protocol contract.Protocol
		input    string
		want     bindings.Value
	}{
		{contract.JSON, "Tokyo", bindings.StringValue("Tokyo")},
		{contract.JSON, `"Tokyo"`, bindings.StringValue("Tokyo")},
		{contract.JSON, `{"n":1}`, bindings.StringValue(`{"n":1}`)},
		{contract.JSON, "", bindings.StringValue("")},
		{contract.Protobuf, "Tokyo", bindings.StringValue(`"Tokyo"`)},
		{contract.Protobuf, `"Tokyo"`, bindings.StringValue(`"Tokyo"`)},
		{contract.Protobuf, `{"n":1}`, bindings.StringValue(`{"n":1}`)},
		{contract.Protobuf, "null", bindings.Value{}},
		{contract.Protobuf, "", bindings.StringValue(`""`)},
	} {
		got := durable.ByHand(tt.protocol, "city", tt.input)
		if diff := cmp.Diff(tt.want, got.Value); diff != "" {
			t.Errorf("%v, %s (-want +got):\n%s", tt.protocol, tt.input, diff)
		}
	}
}

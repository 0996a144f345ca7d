package functions_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
)

// TestBatchThatIsNoJSON: the elements of a batch can be read whatever they are.
func TestBatchThatIsNoJSON(t *testing.T) {
	t.Parallel()
	text := functions.Input{Name: "messages", Value: bindings.Value{Kind: bindings.Strings, List: []bindings.Value{
		bindings.StringValue("hello"), bindings.StringValue(`{"n":1}`), bindings.StringValue(`say "hi"`), bindings.StringValue(""), bindings.StringValue("7"),
	}}}
	raw := functions.Input{Name: "messages", Value: bindings.Value{Kind: bindings.BytesList, List: []bindings.Value{
		bindings.BytesValue([]byte{0xff, 0}), bindings.BytesValue([]byte("x")),
	}}}
	var texts []string
	if err := text.Decode(&texts); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"hello", `{"n":1}`, `say "hi"`, "", "7"}, texts); diff != "" {
		t.Errorf("as texts (-want +got):\n%s", diff)
	}
	var values []any
	if err := text.Decode(&values); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]any{"hello", map[string]any{"n": 1.0}, `say "hi"`, "", 7.0}, values); diff != "" {
		t.Errorf("as values (-want +got):\n%s", diff)
	}
	if !json.Valid([]byte(text.Text())) {
		t.Errorf("Text = %s, want a JSON array", text.Text())
	}
	var bodies [][]byte
	if err := raw.Decode(&bodies); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([][]byte{{0xff, 0}, []byte("x")}, bodies); diff != "" {
		t.Errorf("as bytes (-want +got):\n%s", diff)
	}
	elements := raw.Elements()
	if len(elements) != 2 || string(elements[0].Bytes()) != "\xff\x00" || elements[1].Text() != "x" {
		t.Errorf("Elements = %+v", elements)
	}
	if got := (functions.Input{Value: bindings.StringValue("one")}).Elements(); len(got) != 1 || got[0].Text() != "one" {
		t.Errorf("Elements of a single value = %+v", got)
	}
}

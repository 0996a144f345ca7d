package shim_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A parameter that is a client of an SDK is told to the host, and made by the app's package
// of the value that says where the thing is (spec workers-dotnet-java 1.8).
func testSDKTypes(t *testing.T, p python) {
	s := p.start(t, app(t, "sdk"))
	s.init(app(t, "sdk"))
	r := s.functions(app(t, "sdk"))
	if r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		t.Fatalf("functions: %v", r.GetResult())
	}
	var clients []string
	for _, f := range r.GetFunctionMetadataResults() {
		if got := s.load(f.GetFunctionId(), f); got.GetStatus() != workerpb.StatusResult_Success {
			t.Fatalf("load %s: %v", f.GetName(), got)
		}
		for _, raw := range f.GetRawBindings() {
			var b struct {
				Name       string
				Properties struct{ SupportsDeferredBinding bool }
			}
			if err := json.Unmarshal([]byte(raw), &b); err != nil {
				t.Fatal(err)
			}
			if b.Properties.SupportsDeferredBinding {
				clients = append(clients, f.GetName()+" "+b.Name)
			}
		}
	}
	slices.Sort(clients)
	if diff := cmp.Diff([]string{"copy blob", "copy container", "many blobs"}, clients); diff != "" {
		t.Errorf("bindings that are clients (-want +got):\n%s", diff)
	}
	place := func(content string) *workerpb.ModelBindingData {
		return &workerpb.ModelBindingData{Version: "1.0", Source: "AzureStorageBlobs", ContentType: "application/json", Content: []byte(content)}
	}
	one := func(content string) *workerpb.TypedData {
		return &workerpb.TypedData{Data: &workerpb.TypedData_ModelBindingData{ModelBindingData: place(content)}}
	}
	for _, test := range []struct {
		function string
		inputs   []*workerpb.ParameterBinding
		want     string
	}{
		{"copy", append(input("blob", one("é1")), input("container", one("2"))...),
			`out=string [["1.0", "AzureStorageBlobs", "application/json", "\u00e91"], ["1.0", "AzureStorageBlobs", "application/json", "2"]]`},
		{"copy", append(input("blob", one("")), input("container", &workerpb.TypedData{})...), `out=string [["1.0", "AzureStorageBlobs", "application/json", ""], null]`},
		{"copy", append(input("blob", text("plain")), input("container", one("2"))...), "failure ValueError: unexpected string"},
		{"many", input("blobs", &workerpb.TypedData{Data: &workerpb.TypedData_CollectionModelBindingData{
			CollectionModelBindingData: &workerpb.CollectionModelBindingData{ModelBindingData: []*workerpb.ModelBindingData{place("1"), place("2")}}}}),
			`out=string [["1.0", "AzureStorageBlobs", "application/json", "1"], ["1.0", "AzureStorageBlobs", "application/json", "2"]]`},
		{"plain", input("blob", octets("abc")), "out=string abc"},
	} {
		if got := outcome(s.invoke(&workerpb.InvocationRequest{InvocationId: test.want, FunctionId: test.function, InputData: test.inputs})); !like(got, test.want) {
			t.Errorf("%s: got  %s\nwant %s", test.function, got, test.want)
		}
	}
}

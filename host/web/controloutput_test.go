package web_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/recorded"
)

// What functions set on outputs that are not served is listed, shown, and made to fail.
func TestControlOutputs(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Notify", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "mail", m.Body)
	}, functions.Binding(`{"type":"sendGrid","direction":"out","name":"mail"}`))
	d := open(t, app(plainHostJSON), handlers, nil)
	const at = "/admin/redeliver/outputs"

	if err := d.host.FailOutput("Notify", -1, ""); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		method, path string
		want         int
	}{
		{"GET", at + "/values?name=Other", 404},
		{"GET", at + "/values?name=Notify&max=0", 400},
		{"PUT", at + "/fault?name=Other", 404},
		{"PUT", at + "/fault?name=Notify&times=-2", 400},
		{"PUT", at + "/fault?name=Notify&times=often", 400},
	} {
		d.want(row.want, row.method, row.path, "")
	}
	lifted := get[run.Outputs](d, 200, "PUT", at+"/fault?name=Notify&times=0", "")
	if len(lifted.Outputs) != 0 {
		t.Errorf("still failing: %v", lifted.Outputs)
	}
	failing := get[run.Outputs](d, 200, "PUT", at+"/fault?name=notify/MAIL&times=3", "no such recipient")
	want := []recorded.OutputInfo{{Function: "Notify", Binding: "mail", Type: "sendGrid", Failing: 3}}
	if diff := cmp.Diff(want, failing.Outputs); diff != "" {
		t.Errorf("failing (-want +got):\n%s", diff)
	}
	d.want(200, "PUT", at+"/fault?name=Notify&times=0", "")
	d.want(200, "POST", "/admin/redeliver/functions/Notify/invoke", "seven")
	list := get[struct{ Outputs []recorded.OutputInfo }](d, 200, "GET", at, "")
	want = []recorded.OutputInfo{{Function: "Notify", Binding: "mail", Type: "sendGrid", Recorded: 1}}
	if diff := cmp.Diff(want, list.Outputs); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	values := get[run.PeekedOutputs](d, 200, "GET", at+"/values?name=Notify", "")
	if values.Count != 1 || len(values.Outputs) != 1 || values.Outputs[0].Body != nil || string(values.Outputs[0].Binary) != "seven" || values.Outputs[0].Size != 5 {
		t.Errorf("values: %+v", values)
	}
}

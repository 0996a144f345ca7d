package hosttest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// Outputs and inputs of spec storage 11.2.
func TestBlobBindings(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var customer functions.Input
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		customer, _ = functions.GetInput(ctx, "customer")
		if m.Text() == `{"id":"none"}` {
			return nil
		}
		return functions.SetOutput(ctx, "receipt", map[string]any{"n": 1})
	},
		functions.BlobInput("customer", "customers/{id}.json"),
		functions.BlobOutput("receipt", "receipts/{id}.json"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})

	h.Send("orders", `{"id":"none"}`)
	h.WantSettled("Orders", triggers.Deleted)
	if !customer.IsNull() {
		t.Errorf("input of a missing blob in a missing container = %+v, want null", customer)
	}
	h.Clock().Do("look", func() {
		if _, err := h.Services().Storage().Container("receipts").Properties(context.Background(), nil); err != nil {
			t.Errorf("the container of an output that was not set: %v", err)
		}
	})
	h.Upload("customers/7.json", `{"name":"x"}`)
	h.UploadBlob("receipts/7.json", "a longer old content", &blob.PutOptions{
		Metadata: map[string]string{"kept": "1", "azurewebjobsparentid": "of an earlier write"},
	})
	h.Send("orders", `{"id":"7"}`)
	if customer.Text() != `{"name":"x"}` {
		t.Errorf("input = %q", customer.Text())
	}
	h.WantBlob("receipts/7.json", `{"n":1}`)
	h.Clock().Do("look", func() {
		p, err := h.Services().Storage().Container("receipts").Blob("7.json").Properties(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"kept": "1", "AzureWebJobsParentId": h.Attempts("Orders")[1].Invocation}
		if diff := cmp.Diff(p.Metadata, want); diff != "" {
			t.Errorf("metadata (-got +want):\n%s", diff)
		}
		if p.Type != blob.BlockBlob {
			t.Errorf("type = %s", p.Type)
		}
	})
}

// Failures of blob bindings are failed attempts; the handler never runs when an
// input fails (spec host-and-retry 2).
func TestBlobBindingErrors(t *testing.T) {
	t.Parallel()
	runs := func(opts ...functions.QueueOption) (*functions.App, *int) {
		n := 0
		app := functions.New()
		app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
			n++
			return functions.SetOutput(ctx, "out", m.Body)
		}, opts...)
		return app, &n
	}
	t.Run("append blob", func(t *testing.T) {
		t.Parallel()
		app, n := runs(functions.BlobOutput("out", "logs-1/{id}"))
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		h.UploadBlob("logs-1/7", "", &blob.PutOptions{Type: blob.AppendBlob})
		h.Send("orders", `{"id":"7"}`)
		r := h.AwaitSettled("Orders", triggers.Poisoned)
		if *n != 5 || !strings.Contains(h.Attempts("Orders")[0].Error, "Cannot bind to page or append blobs") {
			t.Errorf("%d runs, settled %v, attempts %v", *n, r, h.Attempts("Orders"))
		}
	})
	for name, path := range map[string]string{"no value": "ccc/{missing}", "invalid": "ccc/{id}."} {
		t.Run("input "+name, func(t *testing.T) {
			t.Parallel()
			app, n := runs(functions.BlobInput("in", path), functions.BlobOutput("out", "ccc/x"))
			h := hosttest.New(t, &hosttest.Options{Handlers: app})
			h.Send("orders", `{"id":"7"}`)
			h.AwaitSettled("Orders", triggers.Poisoned)
			h.WantAttempts("Orders", 5)
			if *n != 0 {
				t.Errorf("the handler ran %d times", *n)
			}
		})
	}
}

// One binding that reads and writes, and one that takes the return value.
func TestBlobInOutAndReturn(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Count", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		state, _ := functions.GetInput(ctx, "state")
		if err := functions.SetOutput(ctx, "state", state.Text()+m.Text()); err != nil {
			return err
		}
		return functions.SetReturn(ctx, "last "+m.Text())
	},
		functions.Binding(`{"type":"blob","direction":"inout","name":"state","path":"states/all"}`),
		functions.BlobOutput("$return", "states/last"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	for _, body := range []string{"a", "b", "c"} {
		h.Send("orders", body)
	}
	h.WantBlob("states/all", "abc")
	h.WantBlob("states/last", "last c")
}

package hosttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// storageChanges is every way in which blobs come and go, in the container "uploads".
func storageChanges(ctx context.Context, account blob.Account) error {
	c := account.Container("uploads")
	if _, err := c.Create(ctx, nil); err != nil {
		return err
	}
	text := &blob.PutOptions{Headers: blob.Headers{ContentType: "text/plain"}}
	for _, step := range []func() error{
		func() error { _, err := c.Blob("a.txt").Put(ctx, strings.NewReader("one"), text); return err },
		func() error { _, err := c.Blob("a.txt").Put(ctx, strings.NewReader("three"), text); return err }, // overwrite
		func() error { _, err := c.Blob("a.txt").SetMetadata(ctx, map[string]string{"x": "y"}, nil); return err },
		func() error { _, err := c.Blob("a.txt").Snapshot(ctx, nil); return err },
		func() error {
			_, err := c.Blob("b.txt").PutBlock(ctx, "MQ==", strings.NewReader("12"), nil)
			return err
		},
		func() error {
			_, err := c.Blob("b.txt").PutBlockList(ctx, []blob.BlockRef{{ID: "MQ=="}}, nil)
			return err
		},
		func() error {
			_, err := c.Blob("dir/c d.txt").CopyFrom(ctx, blob.Source{Container: "uploads", Name: "a.txt"}, nil)
			return err
		},
		func() error {
			_, err := c.Blob("log").Put(ctx, strings.NewReader(""), &blob.PutOptions{Type: blob.AppendBlob})
			return err
		},
		func() error { _, err := c.Blob("log").AppendBlock(ctx, strings.NewReader("line"), nil); return err },
		func() error {
			return c.Blob("a.txt").Delete(ctx, &blob.DeleteOptions{Snapshots: blob.OnlySnapshots})
		},
		func() error { return c.Blob("a.txt").Delete(ctx, nil) },
		func() error {
			if c.Blob("a.txt").Delete(ctx, nil) == nil {
				return fmt.Errorf("deleted a blob that does not exist")
			}
			return nil
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// The changes that raise events, and the fields of these: as the documentation
// of Blob Storage as a source shows them (docs: event-schema-blob-storage.md).
func TestStorageEventSchema(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var got []string
	app.Handle("OnBlob", func(_ context.Context, in *functions.Trigger) error {
		got = append(got, in.Text())
		return nil
	})
	app.Queue("Write", "inbox", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.BlobOutput("out", "uploads/{rand-guid}"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"OnBlob/function.json": `{"bindings":[{"type":"eventGridTrigger","name":"e","direction":"in"}]}`,
		"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[{"name":"devstoreaccount1","subscriptions":[
			{"name":"blobs","function":"OnBlob","subjectBeginsWith":"/blobServices/default/containers/uploads/"}]}]}}}`,
	}})
	h.Upload("elsewhere/a.txt", "of another container")
	h.Clock().Do("change", func() {
		if err := storageChanges(context.Background(), h.Services().Storage()); err != nil {
			t.Error(err)
		}
	})
	h.Send("inbox", "by a binding")
	h.Advance(0)
	const guid = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`
	event := func(kind, name, data string) string {
		url := strings.ReplaceAll(name, " ", "%20")
		return regexp.QuoteMeta(`{"id":"`) + guid + regexp.QuoteMeta(`","topic":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.Storage/storageAccounts/devstoreaccount1",`+
			`"subject":"/blobServices/default/containers/uploads/blobs/`) + name + regexp.QuoteMeta(`","eventType":"Microsoft.Storage.Blob`+kind+`","eventTime":"2030-01-01T00:00:00.0000000Z","data":{`) +
			data + regexp.QuoteMeta(`"url":"http://127.0.0.1:10000/devstoreaccount1/uploads/`) + url + `","sequencer":"[0-9A-F]{32}","storageDiagnostics":\{"batchId":"` + guid + `"\}\},"dataVersion":"","metadataVersion":"1"\}`
	}
	data := func(api, contentType, length, blobType string) string {
		text := `"api":"` + api + `","requestId":"` + guid + `",`
		if length != "" {
			text += `"eTag":"0x[0-9A-F]+",`
		}
		text += `"contentType":"` + contentType + `",`
		if length != "" {
			text += `"contentLength":` + length + `,`
		}
		return text + `"blobType":"` + blobType + `",`
	}
	want := []string{
		event("Created", "a.txt", data("PutBlob", "text/plain", "3", "BlockBlob")),
		event("Created", "a.txt", data("PutBlob", "text/plain", "5", "BlockBlob")),
		event("Created", "b.txt", data("PutBlockList", "application/octet-stream", "2", "BlockBlob")),
		event("Created", "dir/c d.txt", data("CopyBlob", "text/plain", "5", "BlockBlob")),
		event("Created", "log", data("PutBlob", "application/octet-stream", "0", "AppendBlob")),
		event("Deleted", "a.txt", data("DeleteBlob", "text/plain", "", "BlockBlob")),
		event("Created", guid, data("PutBlockList", "application/octet-stream", "12", "BlockBlob")), // as the platform's binding, which writes a stream
	}
	for i, text := range got {
		if i < len(want) && !regexp.MustCompile("^"+want[i]+"$").MatchString(text) {
			t.Errorf("event %d:\n%s\nwant\n%s", i, text, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d events, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	seen, last := map[string]bool{}, ""
	for _, text := range got {
		var e struct {
			ID   string
			Data struct{ Sequencer string }
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if seen[e.ID] || e.Data.Sequencer <= last {
			t.Errorf("event %s: its ID or its sequencer %s was there before", e.ID, e.Data.Sequencer)
		}
		seen[e.ID], last = true, e.Data.Sequencer
	}
}

// A blob trigger with the source EventGrid runs for each blob that comes, in whatever
// way, into its container and by its pattern; it does not run for deleted blobs.
func TestBlobTriggerOnEveryStorageEvent(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	app.Handle("OnBlob", func(_ context.Context, in *functions.Trigger) error {
		seen = append(seen, in.Metadata.Get("name")+"="+in.Text())
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"OnBlob/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"uploads/{name}.txt","source":"EventGrid","dataType":"string"}]}`,
	}})
	h.Upload("uploadsmore/a.txt", "of another container")
	h.Clock().Do("change", func() {
		ctx, account := context.Background(), h.Services().Storage()
		if err := storageChanges(ctx, account); err != nil {
			t.Error(err)
		}
		if _, err := account.Container("uploads").Blob("last.txt").Put(ctx, strings.NewReader("last"), nil); err != nil {
			t.Error(err)
		}
	})
	h.Advance(0)
	// The blob a.txt was gone when its messages were read: the platform drops them.
	if diff := cmp.Diff([]string{"b=12", "dir/c d=three", "last=last"}, seen); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

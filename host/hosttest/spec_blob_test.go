package hosttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// blobApp is an app with one blob function that ends with what result returns.
func blobApp(path string, result func(functions.Blob) error, opts ...functions.BlobOption) *functions.App {
	app := functions.New()
	app.Blob("Import", path, func(_ context.Context, b functions.Blob) error { return result(b) }, opts...)
	return app
}

func nothing(functions.Blob) error { return nil }

// Written once: one execution; restart: none; metadata changed: one more
// (spec storage 20, row 6).
func TestBlobRunsOncePerVersion(t *testing.T) {
	t.Parallel()
	for _, wakeUp := range []string{"fast", "faithful"} {
		t.Run(wakeUp, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{Handlers: blobApp("uploads/{name}", nothing), Set: []string{"wakeUp=" + wakeUp}})
			h.Upload("uploads/a.txt", "hello")
			h.Advance(10 * time.Second)
			h.WantSettled("Import", triggers.Deleted)
			if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:01:00"}`); err != nil {
				t.Fatal(err)
			}
			h.Advance(10 * time.Minute)
			h.WantAttempts("Import", 1)
			h.Clock().Do("metadata", func() {
				if _, err := h.Services().Storage().Container("uploads").Blob("a.txt").SetMetadata(context.Background(), map[string]string{"a": "b"}, nil); err != nil {
					t.Error(err)
				}
			})
			h.Advance(10 * time.Second)
			h.WantAttempts("Import", 2)
		})
	}
}

// An upload fires at once, without time passing.
func TestBlobFiresAtOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: blobApp("uploads/{name}", nothing)})
	h.Upload("uploads/a.txt", "hello")
	h.WantSettled("Import", triggers.Deleted)
	if now := h.Clock().Now(); !now.Equal(hosttest.Start) {
		t.Errorf("time moved to %v", now)
	}
	r := h.Settlements("Import")[0]
	if r.Source != "uploads/a.txt" || r.DeliveryCount != 1 || r.Trigger != "blobTrigger" {
		t.Errorf("settled record = %+v, want the blob as source", r)
	}
}

// A failing blob: 5 deliveries, JSON in webjobs-blobtrigger-poison (spec storage 20,
// row 7); with a policy of 4 retries 25 attempts (spec host-and-retry 4.2).
func TestBlobPoison(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		host     map[string]string
		attempts int
	}{
		"no policy": {nil, 5},
		"4 retries": {hostJSON(fixed4), 25},
		"threshold": {hostJSON(`"extensions":{"blobs":{"poisonBlobThreshold":2}}`), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{
				Handlers: blobApp("uploads/{name}", func(functions.Blob) error { return errBroken }), Files: tt.host,
			})
			etag := h.Upload("uploads/a.txt", "hello")
			r := h.AwaitSettled("Import", triggers.Poisoned)
			h.WantAttempts("Import", tt.attempts)
			if r.Target != "webjobs-blobtrigger-poison" {
				t.Errorf("target = %q", r.Target)
			}
			var got map[string]string
			if err := json.Unmarshal([]byte(h.Bodies("webjobs-blobtrigger-poison")[0]), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"Type": "BlobTrigger", "FunctionId": "Host.Functions.Import", "BlobType": "BlockBlob",
				"ContainerName": "uploads", "BlobName": "a.txt", "ETag": etag,
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("poison message (-got +want):\n%s", diff)
			}
		})
	}
}

// A queue trigger on the poison queue sees the blob's coordinates (spec storage 9.4).
func TestBlobPoisonQueueTrigger(t *testing.T) {
	t.Parallel()
	app := blobApp("uploads/{name}", func(functions.Blob) error { return functions.Poison(errBroken) })
	var got functions.Metadata
	app.Queue("Poisoned", "webjobs-blobtrigger-poison", func(ctx context.Context, _ functions.QueueMessage) error {
		got = functions.FromContext(ctx).Metadata
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Upload("uploads/a.txt", "hello")
	h.AwaitSettled("Poisoned", triggers.Deleted)
	h.WantAttempts("Import", 1) // it asked for poison
	if got.Get("ContainerName") != "uploads" || got.Get("BlobName") != "a.txt" || got.Get("FunctionId") != "Host.Functions.Import" {
		t.Errorf("metadata = %v", got)
	}
}

// The handler's view of a blob, and the metadata of spec storage 10.
func TestBlobMetadata(t *testing.T) {
	t.Parallel()
	var got functions.Blob
	var metadata functions.Metadata
	app := functions.New()
	app.Blob("Import", "uploads/{folder}/{name}.{ext}", func(ctx context.Context, b functions.Blob) error {
		got, metadata = b, maps.Clone(functions.FromContext(ctx).Metadata)
		return nil
	}, functions.BlobOutput("copy", "copies/{metadata.Tenant}/{name}-{properties.ContentLength}.{ext}"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	etag := h.UploadBlob("uploads/a b/c.d.txt", "grün\xff", &blob.PutOptions{
		Metadata: map[string]string{"tenant": "t1"}, Headers: blob.Headers{ContentType: "text/plain"},
	}).ETag
	h.WantSettled("Import", triggers.Deleted)
	want := functions.Blob{
		Container: "uploads", Name: "a b/c.d.txt", URI: "http://127.0.0.1:10000/devstoreaccount1/uploads/a%20b/c.d.txt",
		Content: []byte("grün\xff"), ContentType: "text/plain", ETag: etag, Length: 6,
		Metadata: map[string]string{"tenant": "t1"}, DeliveryCount: 1,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("blob (-got +want):\n%s", diff)
	}
	for name, want := range map[string]string{"BlobTrigger": "uploads/a b/c.d.txt", "folder": "a b", "name": "c.d", "ext": "txt"} {
		if got := metadata.Get(name); got != want {
			t.Errorf("metadata %s = %q, want %q", name, got, want)
		}
	}
	if got := h.Blobs("copies"); len(got) != 0 {
		t.Errorf("copies holds %q, want nothing: the output was not set", got)
	}
}

// Content is read again in each attempt, and outputs resolve anew (spec host-and-retry
// 5.5).
func TestBlobIsReadInEachAttempt(t *testing.T) {
	t.Parallel()
	var seen []string
	fails := true
	app := functions.New()
	app.Blob("Import", "uploads/{name}", func(ctx context.Context, b functions.Blob) error {
		seen = append(seen, b.Text())
		if fails {
			return errBroken
		}
		return nil
	}, functions.FixedDelay(1, time.Minute))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Upload("uploads/a", "one")
	h.Clock().Do("change", func() {
		fails = false
		if _, err := h.Services().Storage().Container("uploads").Blob("a").Put(context.Background(), strings.NewReader("two"), nil); err != nil {
			t.Error(err)
		}
	})
	h.Advance(2 * time.Minute)
	if diff := cmp.Diff(seen, []string{"one", "two", "two"}); diff != "" {
		t.Errorf("contents (-got +want):\n%s", diff)
	}
}

// A blob that cannot be read is a failed attempt, which the policy repeats; the
// handler does not run (spec host-and-retry 2).
func TestUnreadableBlobIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	reads := 0
	storage := emulator.New(clk, &emulator.Options{Fault: func(p emulator.FaultPoint) error {
		if p.Op != "Get" || p.After {
			return nil
		}
		if reads++; reads <= 2 {
			return storage.NewError("ServerBusy")
		}
		return nil
	}})
	ran := 0
	h, err := host.New(t.TempDir(), &host.Options{
		Clock: clk, KeepRecords: -1, Services: sharedStorage{storage},
		Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"},
		Handlers: blobApp("uploads/{name}", func(functions.Blob) error {
			ran++
			return nil
		}, functions.FixedDelay(2, time.Minute)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	clk.Do("upload", func() {
		ctx := context.Background()
		c := storage.Container("uploads")
		if _, err := c.Create(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Blob("a").Put(ctx, strings.NewReader("x"), nil); err != nil {
			t.Fatal(err)
		}
	})
	clk.Advance(5 * time.Minute)
	var got []string
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.AttemptEnded {
			got = append(got, fmt.Sprintf("%d %d %s", r.DeliveryCount, r.RetryCount(), r.Status))
		}
	}
	if diff := cmp.Diff(got, []string{"1 0 failed", "1 1 failed", "1 2 succeeded"}); diff != "" || ran != 1 {
		t.Errorf("the handler ran %d times, attempts (-got +want):\n%s", ran, diff)
	}
}

// A reset takes blobs, receipts and locks away; the host goes on.
func TestBlobsAfterReset(t *testing.T) {
	t.Parallel()
	for _, wakeUp := range []string{"fast", "faithful"} {
		t.Run(wakeUp, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{Handlers: blobApp("uploads/{name}", nothing), Set: []string{"wakeUp=" + wakeUp}})
			for range 3 {
				h.Upload("uploads/a", "x")
				h.Advance(10 * time.Second)
				h.WantSettled("Import", triggers.Deleted)
				h.Reset()
			}
		})
	}
}

// An admin call names a blob.
func TestBlobByHand(t *testing.T) {
	t.Parallel()
	var got string
	h := hosttest.New(t, &hosttest.Options{Handlers: blobApp("uploads/{name}", func(b functions.Blob) error {
		got = b.Container + "/" + b.Name + "=" + b.Text()
		return nil
	})})
	h.Upload("elsewhere/a", "x")
	if res := h.Call("Import", "elsewhere/a"); res.Err != nil || got != "elsewhere/a=x" {
		t.Errorf("call = %v, handler saw %q", res.Err, got)
	}
	if _, err := h.Invoke(context.Background(), "Import", "elsewhere/none"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("call for a missing blob: %v", err)
	}
}

// sharedStorage is one embedded account for several hosts.
type sharedStorage struct{ *emulator.Storage }

func (s sharedStorage) Queues(appsettings.Connection) (queue.Account, error) { return s.Storage, nil }
func (s sharedStorage) Blobs(appsettings.Connection) (blob.Account, error)   { return s.Storage, nil }
func (s sharedStorage) Tables(appsettings.Connection) (table.Account, error) { return s.Storage, nil }
func (s sharedStorage) ServiceBus(appsettings.Connection) (servicebus.Namespace, error) {
	return nil, errors.New("no Service Bus here")
}

// Two hosts on one storage, 1000 blobs: each is executed once (spec storage 20, row 8).
func TestTwoHostsThousandBlobs(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	storage := emulator.New(clk, nil)
	executed := map[string]int{}
	var hosts []*host.Host
	for n := range 2 {
		h, err := host.New(t.TempDir(), &host.Options{
			Clock: clk, Seed: uint64(n), KeepRecords: -1, Processors: 2, Services: sharedStorage{storage},
			Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureFunctionsWebHost__hostid=shared"},
			Handlers: blobApp("uploads/{name}", func(b functions.Blob) error {
				executed[b.Name]++
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		hosts = append(hosts, h)
	}
	clk.Do("upload", func() {
		ctx := context.Background()
		c := storage.Container("uploads")
		if _, err := c.Create(ctx, nil); err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if _, err := c.Blob(fmt.Sprint(i)).Put(ctx, bytes.NewReader(nil), nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	clk.Advance(time.Minute)
	for i := range 1000 {
		if n := executed[fmt.Sprint(i)]; n != 1 {
			t.Fatalf("blob %d was executed %d times, want once", i, n)
		}
	}
	for i, h := range hosts {
		settled := 0
		for _, r := range h.Journal().Records() {
			if r.Kind == journal.Settled {
				settled++
			}
		}
		if settled == 0 {
			t.Errorf("host %d did nothing", i)
		}
	}
}

// extensions.queues means nothing to blob triggers (S-15): not its counts, nor its
// encoding.
func TestBlobIgnoresQueueOptions(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Handlers: blobApp("uploads/{name}", func(functions.Blob) error { return errBroken }),
		Files:    hostJSON(`"extensions":{"queues":{"maxDequeueCount":2,"visibilityTimeout":"01:00:00","messageEncoding":"none"}}`),
	})
	h.Upload("uploads/a", "x")
	h.AwaitSettled("Import", triggers.Poisoned)
	h.WantAttempts("Import", 5)
	if past := h.Clock().Now().Sub(hosttest.Start); past > time.Minute {
		t.Errorf("five deliveries took %v", past)
	}
	if _, err := queue.Base64.Decode(h.Messages("webjobs-blobtrigger-poison")[0].Text); err != nil {
		t.Errorf("the poison message is not base64: %v", err)
	}
}

// The same through a handler process: what crosses the wire.
func TestBlobInAProcess(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, process(t, "blobs", nil))
	h.Upload("uploads/a", "x\xff")
	h.AwaitSettled("Copy", triggers.Deleted)
	h.WantBlob("copies/a", "x\xffx\xff")
	h.Upload("uploads/b", "")
	h.AwaitSettled("Copy", triggers.Deleted)
	h.WantBlob("copies/b", "")
}

// copies is an app that doubles blobs.
func copies() *functions.App {
	app := functions.New()
	app.Blob("Copy", "uploads/{name}", func(ctx context.Context, b functions.Blob) error {
		again, _ := functions.GetInput(ctx, "again")
		return functions.SetOutput(ctx, "copy", append(b.Content, again.Bytes()...))
	}, functions.BlobInput("again", "uploads/{name}"), functions.BlobOutput("copy", "copies/{name}"))
	return app
}

// Faults of a blob function are reported when the app is loaded.
func TestBlobFunctionFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ bindings, want string }{
		"braces in the container": {`{"type":"blobTrigger","name":"b","path":"{c}/x"}`, "Container paths cannot contain {resolve} tokens"},
		"container name":          {`{"type":"blobTrigger","name":"b","path":"UP/x"}`, "3 to 63"},
		"unknown parameter": {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"blob","direction":"out","name":"o","path":"out-1/{nam}"}`,
			"Unable to resolve binding parameter 'nam'"},
		"unknown name with a timer": {`{"type":"timerTrigger","name":"t","schedule":"0 0 * * * *"},{"type":"queue","direction":"out","name":"o","queueName":"{sys.methodname}-{name}"}`,
			"Unable to resolve binding parameter 'name'"},
		"empty queue name": {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"queue","direction":"out","name":"o","queueName":""}`,
			"A queue name can't be null or empty"},
		"empty path": {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"blob","direction":"out","name":"o","path":""}`,
			"Invalid blob path specified : ''."},
		"constant output": {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"blob","direction":"out","name":"o","path":"nothing"}`,
			"Invalid blob path specified : 'nothing'. Blob identifiers must be in the format 'container/blob'"},
		"container of an output": {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"blob","direction":"out","name":"o","path":"UP/x"}`, "3 to 63"},
		"braces of an input":     {`{"type":"blobTrigger","name":"b","path":"uploads/{name}"},{"type":"blob","direction":"in","name":"o","path":"uploads/{name"}`, "Missing closing bracket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Handle("Import", func(context.Context, *functions.Trigger) error { return nil })
			app.Timer("Good", "0 0 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
			h := hosttest.New(t, &hosttest.Options{
				Handlers: app, Files: map[string]string{"Import/function.json": `{"bindings":[` + tt.bindings + `]}`}, InError: []string{"Import"},
			})
			for _, f := range h.App().Functions {
				if f.Name != "Import" {
					continue
				}
				if len(f.Faults) != 1 || !strings.Contains(f.Faults[0].Error(), tt.want) {
					t.Errorf("faults = %v, want one: %s", f.Faults, tt.want)
				}
			}
		})
	}
}

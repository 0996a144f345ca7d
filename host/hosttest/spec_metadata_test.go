package hosttest_test

import (
	"context"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A property of the body takes the place of a built-in of the same name in the
// metadata, ignoring case (spec storage 5). The message properties that a queue
// handler sees stay the service's.
func TestBodyHidesMetadata(t *testing.T) {
	t.Parallel()
	var got functions.QueueMessage
	metadata := map[string]string{}
	app := functions.New()
	app.Queue("Typed", "typed", func(_ context.Context, m functions.QueueMessage) error {
		got = m
		return nil
	})
	app.Handle("Any", func(_ context.Context, tr *functions.Trigger) error {
		for name := range tr.Metadata {
			metadata[name] = tr.Metadata.Get(name)
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"Any/function.json": queueFunction("any", "")}})
	const body = `{"id":"7","dequeueCount":9,"total":1.5,"paid":true,"nothing":null,"lines":[1],"customer":{"name":"A"}}`
	id := h.Send("typed", body)
	h.AwaitSettled("Typed", triggers.Deleted)
	if got.ID != id || got.DequeueCount != 1 || got.Text() != body {
		t.Errorf("the handler got %+v, want ID %s and dequeue count 1", got, id)
	}
	h.Send("any", body)
	h.AwaitSettled("Any", triggers.Deleted)
	for name, want := range map[string]string{
		"Id": "7", "DequeueCount": "9", "total": "1.5", "paid": "True", "customer": `{"name":"A"}`, "QueueTrigger": body,
	} {
		if metadata[name] != want {
			t.Errorf("metadata %s = %q, want %q", name, metadata[name], want)
		}
	}
	for _, name := range []string{"nothing", "lines", "sys", "id"} {
		if v, ok := metadata[name]; ok {
			t.Errorf("metadata has %s = %q, want none", name, v)
		}
	}
}

package hosttest_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// The host's identity is in names of the host's own queues and blobs, and in what the
// journal says of them. In the kit it does not depend on the machine or the folder.
func TestBlobJournalIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	run := func() string {
		app := functions.New()
		app.Blob("OnBlob", "invoices/{name}", func(context.Context, functions.Blob) error { return errBroken })
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		h.Upload("invoices/a.txt", "a")
		h.AwaitSettled("OnBlob", triggers.Poisoned)
		var journal bytes.Buffer
		if _, err := h.Journal().WriteTo(&journal); err != nil {
			t.Error(err)
		}
		return journal.String()
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Errorf("two folders, two journals (-first +second):\n%s", diff)
	}
}

func TestHostIDOfTheKit(t *testing.T) {
	t.Parallel()
	if got := hosttest.New(t, nil).ID(); got != "hosttest" {
		t.Errorf("host ID %q, want hosttest", got)
	}
	other := &hosttest.Options{Env: []string{"AzureFunctionsWebHost__hostid=other"}}
	if got := hosttest.New(t, other).ID(); got != "other" {
		t.Errorf("host ID %q, want other", got)
	}
}

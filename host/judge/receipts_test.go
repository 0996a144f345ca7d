//clock:outside the hosts of the tests are of the real world

package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// What a host leaves in its storage: the receipts of blobs, the status of timers, locks,
// queues and what is in them, while it runs and when it has ended. A blob is written
// twice; one blob and one message fail each time.
func TestReceipts(t *testing.T) {
	t.Parallel()
	tab := readTable(t, "testdata/receipts.tsv", 1, 1)
	all := func(t *testing.T, start starter) [][]string {
		r := &run{id: newID(), sent: map[string]int{}}
		a := lay(t, archive(t, "receipts.txtar"), r.id)
		r.given, r.subject = a.given, start(t, a.dir, "custom", append(a.env, servesStorage))
		if r.state != "Running" {
			t.Fatalf("the host's state is %s", r.state)
		}
		for _, in := range [][]string{
			{"", "Blob", "blob a.txt", "x"}, {"", "Blob", "blob a.txt", "xy"}, {"", "FailsBlob", "blob b.txt", "x"},
			{"", "Queue", "queue", "x"}, {"", "FailsQueue", "queue", "x"},
		} {
			r.sent[in[1]]++
			r.send(t, in)
			if r.finished != nil {
				r.finished(t, in[1], r.sent[in[1]])
			} else {
				r.quiet(t, 12*time.Second)
			}
		}
		var facts [][]string
		for _, row := range tab.rows {
			facts = append(facts, []string{r.trace(t, row.in[0])})
		}
		return facts
	}
	tab.judge(t, judgeVariable, all(t, openOurs), func(t *testing.T) [][]string { return all(t, openTheirs) })
}

// trace is what a row looks at.
func (r *run) trace(t *testing.T, what string) (found string) {
	t.Helper()
	var status struct{ ID string }
	if text := r.get("/admin/host/status"); text != "" {
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			t.Fatal(err)
		}
		r.host = status.ID
	}
	own := strings.NewReplacer("{id}", r.host, "{run}", r.id)
	kind, name, _ := strings.Cut(own.Replace(what), " ")
	name, _, _ = strings.Cut(name, " ")
	switch kind {
	case "attempts":
		var attempts []string
		for _, one := range r.told(t, []string{"", name, ""}) {
			attempts = append(attempts, one.attempt())
		}
		found = strings.Join(attempts, " ")
	case "exit":
		found = r.stop()
	case "locks":
		name = own.Replace("locks/{id}/")
		fallthrough
	case "blobs":
		r.inside(func() { found = r.blobsBelow(t, name) })
	case "content":
		r.inside(func() { found = r.content(t, name) })
	case "queue":
		r.inside(func() { found = r.messages(t, name) })
	}
	return strings.ReplaceAll(r.written(found), r.host, "{id}")
}

// blobsBelow are the host's own blobs, each with its lease and its metadata.
func (r *run) blobsBelow(t *testing.T, prefix string) string {
	page, err := r.blobs.Container(hostlock.Container).Blobs(context.Background(), &blob.ListOptions{Prefix: prefix, Include: blob.ListInclude{Metadata: true}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, item := range page.Blobs {
		var metadata []string
		for key := range item.Properties.Metadata { // Azurite writes them small
			metadata = append(metadata, strings.ToLower(key)+"={own}")
		}
		slices.Sort(metadata)
		name := strings.TrimPrefix(item.Name, prefix)
		if etag, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(etag, `"`) {
			name = `"{own}"/` + rest
		}
		list = append(list, strings.TrimSpace(fmt.Sprint(name, " ", item.Properties.Lease.State, " ", strings.Join(metadata, " "))))
	}
	return strings.Join(list, ", ")
}

// content is the content of one of the host's own blobs.
func (r *run) content(t *testing.T, name string) string {
	d, err := r.blobs.Container(hostlock.Container).Blob(name).Get(context.Background(), nil)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = d.Body.Close() }()
	text, err := io.ReadAll(d.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// messages are those of a queue that are about this run: text, how often they were
// delivered, and how long they live.
func (r *run) messages(t *testing.T, name string) string {
	list, err := r.queues.Queue(name).Peek(context.Background(), queue.MaxReceive)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return "no such queue"
	case err != nil:
		t.Fatal(err)
	}
	found := []string{}
	for _, m := range list {
		text := m.Text
		if plain, err := queue.Base64.Decode(text); err == nil {
			text = string(plain)
		}
		if strings.HasPrefix(name, "judge-") || strings.Contains(text, r.id) {
			found = append(found, fmt.Sprintf("%s delivered %d lives %v", text, m.DequeueCount, m.Expires.Sub(m.Inserted)))
		}
	}
	if len(found) == 0 {
		return "empty"
	}
	return strings.Join(found, ", ")
}

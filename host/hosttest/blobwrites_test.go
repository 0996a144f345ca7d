package hosttest_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A blob trigger runs for each version of a blob, however it was written. Tags and
// tiers make no version (spec storage 9.3). By Event Grid it runs for new blobs,
// except page blobs (spec storage 9.1).
func TestBlobTriggerOnWritesOfEveryKind(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var scanned, told []string
	app.Handle("Scan", func(_ context.Context, in *functions.Trigger) error {
		scanned = append(scanned, in.Metadata.Get("name"))
		return nil
	})
	app.Handle("Told", func(_ context.Context, in *functions.Trigger) error {
		told = append(told, in.Metadata.Get("name"))
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"Scan/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"inbox/{name}"}]}`,
		"Told/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"inbox/{name}","source":"EventGrid"}]}`,
	}})
	type (
		paged interface {
			PutPages(ctx context.Context, at int64, body io.Reader, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
		}
		tagged interface {
			SetTags(ctx context.Context, tags map[string]string, cond *blob.Conditions) error
		}
		tiered interface {
			SetTier(ctx context.Context, tier, priority string, cond *blob.Conditions) (bool, error)
		}
		sealer interface {
			Seal(ctx context.Context, position *int64, cond *blob.Conditions) (*blob.Written, error)
		}
	)
	disk := func(c blob.Container) blob.Blob { return c.Blob("disk") }
	for _, step := range []struct {
		name          string
		write         func(ctx context.Context, c blob.Container) error
		scanned, told []string
	}{
		{"create a page blob", func(ctx context.Context, c blob.Container) error {
			_, err := disk(c).Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: 1024})
			return err
		}, []string{"disk"}, nil},
		{"put pages", func(ctx context.Context, c blob.Container) error {
			_, err := disk(c).(paged).PutPages(ctx, 0, strings.NewReader(strings.Repeat("x", 512)), &blobs.PageOptions{})
			return err
		}, []string{"disk"}, nil},
		{"create an append blob", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("log").Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob, Tags: map[string]string{"k": "v"}})
			return err
		}, []string{"log"}, []string{"log"}},
		{"append", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("log").AppendBlock(ctx, strings.NewReader("line"), nil)
			return err
		}, []string{"log"}, nil},
		{"seal", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("log").(sealer).Seal(ctx, nil, nil)
			return err
		}, []string{"log"}, nil},
		{"set tags", func(ctx context.Context, c blob.Container) error {
			return c.Blob("log").(tagged).SetTags(ctx, map[string]string{"k": "w"}, nil)
		}, nil, nil},
		{"copy", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("copy").CopyFrom(ctx, blob.Source{Container: "inbox", Name: "log"}, nil)
			return err
		}, []string{"copy"}, []string{"copy"}},
		{"put", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("text").Put(ctx, strings.NewReader("x"), nil)
			return err
		}, []string{"text"}, []string{"text"}},
		{"set the tier", func(ctx context.Context, c blob.Container) error {
			_, err := c.Blob("text").(tiered).SetTier(ctx, "Cool", "", nil)
			return err
		}, nil, nil},
	} {
		scanned, told = nil, nil
		h.Clock().Do(step.name, func() {
			c := h.Services().Storage().Container("inbox")
			_, _ = c.Create(t.Context(), nil) // the first step's
			if err := step.write(t.Context(), c); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		})
		h.Advance(5 * time.Second)
		if !slices.Equal(scanned, step.scanned) || !slices.Equal(told, step.told) {
			t.Errorf("%s ran %q by scan and %q by Event Grid, want %q and %q", step.name, scanned, told, step.scanned, step.told)
		}
	}
}

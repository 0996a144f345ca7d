package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// Blobs that come or go as a whole raise an event, by any way.
func TestBlobEvents(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	s := storage.New(clk, nil)
	var got []string
	tell := func(e blobs.Event) {
		got = append(got, strings.TrimSpace(fmt.Sprintln(e.Deleted, e.API, e.Container, e.Name, e.Type, e.ContentType, e.Length, e.ETag != "" && !strings.Contains(e.ETag, `"`))))
	}
	stop := s.OnBlobEvent(tell)
	ctx := context.Background()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	clk.Do("write", func() {
		c := s.Container("files")
		must(c.Create(ctx, nil))
		b := c.Blob(`a\b`)
		must(b.Put(ctx, strings.NewReader("abc"), &blob.PutOptions{Headers: blob.Headers{ContentType: "text/plain"}}))
		must(b.SetMetadata(ctx, map[string]string{"x": "y"}, nil))
		must(b.Snapshot(ctx, nil))
		must(nil, b.Delete(ctx, &blob.DeleteOptions{Snapshots: blob.OnlySnapshots}))
		must(c.Blob("l").PutBlock(ctx, "MQ==", strings.NewReader("12"), nil))
		must(c.Blob("l").PutBlockList(ctx, []blob.BlockRef{{ID: "MQ=="}}, nil))
		if err := c.Blob("none").Delete(ctx, nil); err == nil {
			t.Error("deleted a blob that does not exist")
		}
		must(nil, b.Delete(ctx, nil))
		stop()
		must(b.Put(ctx, strings.NewReader(""), nil))
	})
	want := []string{
		"false PutBlob files a/b BlockBlob text/plain 3 true",
		"false PutBlockList files l BlockBlob application/octet-stream 2 true",
		"true DeleteBlob files a/b BlockBlob text/plain 0 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

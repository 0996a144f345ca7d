package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

// bodyOf is the content that belongs to a tag: small or large, by its tag.
func bodyOf(tag string) string {
	n := 10 + len(tag)*7
	if strings.HasSuffix(tag, "0") {
		n = 50_000 // a file
	}
	return strings.Repeat(tag+"|", n/len(tag)+1)
}

// diskSize is the length of the page blobs.
const diskSize = 64 << 10

// pagesOf is what a page blob holds that belongs to a tag: all of it.
func pagesOf(tag string) string {
	if tag == "" {
		return strings.Repeat("\x00", diskSize)
	}
	return strings.Repeat(tag+"|", diskSize/len(tag)+1)[:diskSize]
}

// writeBlobsUntilKilled has workers, each with eight blobs of its own, which it puts,
// commits from blocks and deletes at random, a page blob, of which it writes all
// pages, and a blob to which it gives tags.
func writeBlobsUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	c := s.Container("docs")
	if _, err := c.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return nil, err
	}
	return func(w *storetest.Writer) error {
		disk, tagged := fmt.Sprintf("d%d", w.Number), fmt.Sprintf("t%d", w.Number)
		for name, opts := range map[string]*blob.PutOptions{disk: {Type: blob.PageBlob, Size: diskSize}, tagged: {}} {
			opts.Conditions = &blob.Conditions{IfNoneMatch: "*"}
			if _, err := c.Blob(name).Put(ctx, nil, opts); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
				return err
			}
		}
		for i := 0; ; i++ {
			name := fmt.Sprintf("w%d-%d", w.Number, w.IntN(8))
			tag := fmt.Sprintf("%d.%d.%d", w.Process, w.Number, i)
			switch w.IntN(6) {
			case 0:
				name = disk
			case 1:
				name = tagged
			}
			if err := writeBlob(ctx, c.Blob(name), w.IntN(4), tag, func(what string) { w.Say(what, name, tag) }); err != nil {
				return err
			}
		}
	}, nil
}

// writeBlob says what it is about to do, does it, and says that it is done.
func writeBlob(ctx context.Context, b blob.Blob, how int, tag string, say func(what string)) error {
	body := bodyOf(tag)
	var err error
	switch kind := b.Name()[0]; {
	case kind == 'd':
		say("writing")
		_, err = b.(paged).PutPages(ctx, 0, strings.NewReader(pagesOf(tag)), &blobs.PageOptions{})
	case kind == 't':
		say("writing")
		err = b.(tagged).SetTags(ctx, map[string]string{"tag": tag}, nil)
	case how == 0:
		say("deleting")
		if err = b.Delete(ctx, nil); errors.Is(err, bindings.ErrNotFound) {
			err = nil
		}
		if err == nil {
			say("deleted")
		}
		return err
	case how == 1:
		say("writing")
		if _, err = b.PutBlock(ctx, "AAAA", strings.NewReader(body[:len(body)/2]), nil); err == nil {
			if _, err = b.PutBlock(ctx, "BBBB", strings.NewReader(body[len(body)/2:]), nil); err == nil {
				_, err = b.PutBlockList(ctx, []blob.BlockRef{{ID: "AAAA"}, {ID: "BBBB"}}, nil)
			}
		}
	default:
		say("writing")
		_, err = b.Put(ctx, strings.NewReader(body), nil)
	}
	if err == nil {
		say("written")
	}
	return err
}

// blobFate is what a blob may be: what was acknowledged last, or what was under
// way.
type blobFate struct{ acknowledged, underWay string } // tags; empty: no blob

// TestKillBlobs is TestKill for blobs: after each kill every blob is what was
// acknowledged last, or what was under way, as a whole.
func TestKillBlobs(t *testing.T) {
	t.Parallel()
	var fates map[string]*blobFate
	storetest.Kills{
		Work: "blobs", Rounds: 20, Lines: 100, RoundsOfOne: killsOfOne,
		Forget: func() { fates = map[string]*blobFate{} },
		Hear: func(words []string) {
			f := fates[words[1]]
			if f == nil {
				f = &blobFate{}
				fates[words[1]] = f
			}
			switch words[0] {
			case "writing":
				f.underWay = words[2]
			case "deleting":
				f.underWay = ""
			case "written":
				f.acknowledged = words[2]
			case "deleted":
				f.acknowledged = ""
			}
		},
		Check: func(db *store.Store) { checkBlobs(t, db, fates) },
	}.Run(t)
}

func checkBlobs(t *testing.T, db *store.Store, fates map[string]*blobFate) {
	t.Helper()
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	for name, f := range fates {
		got := ""
		d, err := s.Container("docs").Blob(name).Get(context.Background(), nil)
		switch {
		case err == nil:
			body, err := io.ReadAll(d.Body)
			if err = errors.Join(err, d.Body.Close()); err != nil {
				t.Fatalf("read %s: %v", name, err)
			}
			got, _, _ = strings.Cut(string(body), "|")
			want := bodyOf
			switch name[0] {
			case 'd':
				got, want = strings.TrimRight(got, "\x00"), pagesOf
			case 't':
				got, want = d.Properties.Tags["tag"], func(string) string { return "" }
			}
			if string(body) != want(got) {
				t.Errorf("blob %s: %d bytes that belong to no write", name, len(body))
			}
		case !errors.Is(err, bindings.ErrNotFound):
			t.Fatalf("read %s: %v", name, err)
		}
		if got != f.acknowledged && got != f.underWay {
			t.Errorf("blob %s is %q, want %q, which was acknowledged, or %q, which was under way", name, got, f.acknowledged, f.underWay)
		}
		f.acknowledged, f.underWay = got, got
	}
}

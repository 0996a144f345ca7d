package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestDurableBlobConformance(t *testing.T) {
	t.Parallel()
	features := blobFeatures
	features.Limits = false // they have nothing to do with the store
	for _, sync := range []bool{false, true} {
		t.Run(fmt.Sprintf("Sync=%v", sync), func(t *testing.T) {
			t.Parallel()
			bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
				clk := newVirtual()
				return &bindingtest.BlobBackend{
					Account:  openAccount(t, clk, openStore(t, t.TempDir(), &store.Options{Sync: sync}), nil),
					Features: features,
					Do:       func(f func()) { clk.Do("test", f) },
					Now:      clk.Now,
					Advance:  clk.Advance,
				}
			})
		})
	}
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
			db := openStore(t, t.TempDir(), nil)
			return &bindingtest.BlobBackend{Account: openAccount(t, clock.System(), db, nil), Features: features}
		})
	})
}

// large is a body that is kept as a file.
func large(c byte) string { return strings.Repeat(string(c), 100_000) }

// describe tells everything that a reader of the account can see.
func describe(t *testing.T, s *emulator.Storage) (out []string) {
	t.Helper()
	ctx := context.Background()
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	page, err := s.Containers(ctx, &blob.ListContainersOptions{Metadata: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Containers {
		c := s.Container(item.Name)
		say("%s %+v", item.Name, item.Properties)
		access, err := c.Access(ctx, nil)
		say("access %+v %v", access, err)
		blobs, err := c.Blobs(ctx, &blob.ListOptions{Include: blob.ListInclude{Metadata: true, Snapshots: true, Uncommitted: true, Copy: true, Tags: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blobs.Blobs {
			handle := c.Blob(b.Name)
			if b.Snapshot != "" {
				handle = handle.At(b.Snapshot)
			}
			text := "no content"
			if d, err := handle.Get(ctx, nil); err == nil {
				body, err := io.ReadAll(d.Body)
				text = fmt.Sprintf("%d bytes %.20q %x %v %v", len(body), body, crc32.ChecksumIEEE(body), err, d.Body.Close())
			}
			copied := "no copy"
			if b.Properties.Copy != nil {
				copied = fmt.Sprintf("%+v", *b.Properties.Copy)
				b.Properties.Copy = nil
			}
			say("%s %s %+v %s: %s", b.Name, b.Snapshot, b.Properties, copied, text)
			if list, err := handle.(paged).PageRanges(ctx, nil, "", nil); err == nil {
				say("pages %+v", *list)
			}
			if list, err := handle.BlockList(ctx, nil); err == nil {
				say("blocks %+v", *list)
			}
		}
	}
	p, err := s.BlobServiceProperties(ctx)
	say("properties %+v %v", p.SoftDelete, err)
	queues, err := s.Queues(ctx)
	say("queues %v %v", queues, err)
	for _, name := range queues {
		metadata, err := s.QueueMetadata(ctx, name)
		policies, err2 := s.QueuePolicies(ctx, name)
		say("queue %s %v %v %v %v", name, metadata, policies, err, err2)
	}
	q, err := s.QueueServiceProperties(ctx)
	say("properties of queues %+v %v", q.SoftDelete, err)
	return out
}

// fill makes an account with something of every kind.
func fill(t *testing.T, s *emulator.Storage) {
	t.Helper()
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	done := func(_ any, err error) {
		t.Helper()
		check(err)
	}
	c := s.Container("docs")
	done(c.Create(ctx, &blob.CreateContainerOptions{Metadata: map[string]string{"a": "b"}}))
	done(c.SetAccess(ctx, &blob.ContainerAccess{Policies: []storage.AccessPolicy{{ID: "p", Permission: "r"}}}, nil))
	small, file, log, blocks := c.Blob("small"), c.Blob("dir/file"), c.Blob("log"), c.Blob("blocks")
	done(small.Put(ctx, strings.NewReader("one"), &blob.PutOptions{Metadata: map[string]string{"k": "v"}, Headers: blob.Headers{ContentType: "text/plain"}}))
	done(small.Snapshot(ctx, nil))
	done(small.Put(ctx, strings.NewReader("two"), nil))
	held, err := small.AcquireLease(ctx, blob.InfiniteLease, "", nil)
	check(err)
	done(file.Put(ctx, strings.NewReader(large('f')), nil))
	done(c.Blob("copy").CopyFrom(ctx, blob.Source{Container: "docs", Name: "dir/file"}, nil))
	done(log.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}))
	for _, text := range []string{"a", large('b'), "c"} {
		done(log.AppendBlock(ctx, strings.NewReader(text), nil))
	}
	for i, text := range []string{"x", large('y')} {
		done(blocks.PutBlock(ctx, fmt.Sprintf("AAA%d", i), strings.NewReader(text), nil))
	}
	done(blocks.PutBlockList(ctx, []blob.BlockRef{{ID: "AAA1"}, {ID: "AAA0"}}, nil))
	done(blocks.PutBlock(ctx, "BBBB", strings.NewReader("waits"), nil))
	done(c.Blob("empty").Put(ctx, nil, nil))
	disk := c.Blob("disk")
	done(disk.Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: 1 << 20, Sequence: 3}))
	for at, text := range []string{large('p')[:512*100], "", large('q')[:512*3], large('r')[:512]} {
		if text != "" {
			done(disk.(paged).PutPages(ctx, int64(at)*512*20, strings.NewReader(text), &blobs.PageOptions{}))
		}
	}
	done(disk.Snapshot(ctx, nil))
	done(disk.(paged).ClearPages(ctx, blob.Range{Offset: 512 * 90, Count: 512 * 2}, &blobs.PageOptions{}))
	sealed := c.Blob("sealed")
	done(sealed.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}))
	done(sealed.AppendBlock(ctx, strings.NewReader("last"), nil))
	done(sealed.(sealer).Seal(ctx, nil, nil))
	done(c.Blob("tagged").Put(ctx, strings.NewReader("t"), &blob.PutOptions{Tags: map[string]string{"k": "v"}}))
	check(c.Blob("small").(tagged).SetTags(ctx, map[string]string{"state": "done", "empty": ""}, &blob.Conditions{LeaseID: held.ID}))
	gone := c.Blob("gone")
	done(gone.Put(ctx, strings.NewReader(large('g')), nil))
	check(gone.Delete(ctx, nil))
	check(s.SetBlobServiceProperties(ctx, &storage.ServiceProperties{SoftDelete: &storage.RetentionProperties{Enabled: true, Days: 3}}))
	done(s.Container("dropped").Create(ctx, nil))
	done(s.Container("dropped").Blob("a").Put(ctx, strings.NewReader(large('d')), nil))
	check(s.Container("dropped").Delete(ctx, nil))

	done(s.CreateQueue(ctx, "orders", map[string]string{"owner": "me"}))
	check(s.SetQueuePolicies(ctx, "orders", []storage.AccessPolicy{{ID: "q", Permission: "raup"}}))
	check(s.SetQueueServiceProperties(ctx, storage.ServiceProperties{SoftDelete: &storage.RetentionProperties{Enabled: true, Days: 5}}))
	done(s.CreateQueue(ctx, "left", map[string]string{"x": "y"}))
	check(s.DeleteQueue(ctx, "left"))
	check(s.Queue("left").Create(ctx)) // without what was known of the old one
}

// TestBlobsSurvive: an account that is closed and opened again shows what it
// showed before, from a directory as from an archive, and keeps no file that no
// blob has.
func TestBlobsSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clk := newVirtual()
	var want []string
	var archive bytes.Buffer
	files := func(db *store.Store) int { return countFiles(t, dir) }
	func() {
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		s := openAccount(t, clk, db, nil)
		clk.Do("fill", func() {
			fill(t, s)
			want = describe(t, s)
		})
		clk.Do("save", func() {
			if err := s.Save(&archive); err != nil {
				t.Error(err)
			}
		})
		if got := files(db); got != 4 {
			t.Errorf("%d files, want 4: of a blob and its copy, of the log, of the blocks, of pages", got)
		}
	}()
	same := func(t *testing.T, what string, s *emulator.Storage) {
		t.Helper()
		var got []string
		clk.Do("describe", func() { got = describe(t, s) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	db := openStore(t, dir, nil)
	opened := openAccount(t, clk, db, nil)
	same(t, "opened again", opened)

	memory := emulator.New(clk, nil)
	clk.Do("load", func() {
		if err := memory.Load(bytes.NewReader(archive.Bytes())); err != nil {
			t.Fatal(err)
		}
	})
	same(t, "loaded into memory", memory)
	var again bytes.Buffer
	clk.Do("save", func() {
		if err := memory.Save(&again); err != nil {
			t.Fatal(err)
		}
	})
	var snap *emulator.Snapshot
	clk.Do("reset", func() {
		var err error
		if snap, err = opened.Snapshot(); err != nil {
			t.Fatal(err)
		}
		if err := opened.Reset(); err != nil {
			t.Fatal(err)
		}
		if n := len(describe(t, opened)); n != 3 {
			t.Errorf("%d lines about an account that was reset, want 3", n)
		}
	})
	if got := files(db); got != 0 {
		t.Errorf("%d files after the reset", got)
	}
	clk.Do("restore", func() {
		if err := opened.Restore(snap); err != nil {
			t.Fatal(err)
		}
	})
	same(t, "restored", opened)
	clk.Do("load", func() {
		if err := opened.Load(&again); err != nil {
			t.Fatal(err)
		}
	})
	same(t, "loaded into a store what memory saved", opened)
}

// TestDownloadOutlivesDelete: a blob that is deleted while it is read is read to
// its end, and its bytes go afterwards, or at the next start.
func TestDownloadOutlivesDelete(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		dir := t.TempDir()
		ctx := context.Background()
		func() {
			db, err := store.Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			s := openAccount(t, clock.System(), db, nil)
			c := s.Container("docs")
			if _, err := c.Create(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Blob("a").Put(ctx, strings.NewReader(large('a')), nil); err != nil {
				t.Fatal(err)
			}
			d, err := c.Blob("a").Get(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Blob("a").Delete(ctx, nil); err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(d.Body)
			if string(body) != large('a') || err != nil {
				t.Errorf("read %d bytes, %v", len(body), err)
			}
			if closed {
				if err := d.Body.Close(); err != nil {
					t.Error(err)
				}
				if n := countFiles(t, dir); n != 0 {
					t.Errorf("%d files after the download", n)
				}
			}
		}()
		db := openStore(t, dir, nil)
		openAccount(t, clock.System(), db, nil)
		if n := countFiles(t, dir); n != 0 {
			t.Errorf("closed=%v: %d files after the next start", closed, n)
		}
	}
}

// TestBlobWriteFails: what could not be written was not acknowledged, is not to be
// seen, and the account goes on.
func TestBlobWriteFails(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"small": "new", "large": large('n')} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			db := openStore(t, t.TempDir(), &store.Options{Fault: func(op store.FileOp, _ string) error {
				if broken.Load() && op == store.OpWrite {
					return syscall.ENOSPC
				}
				return nil
			}})
			clk := newVirtual()
			s := openAccount(t, clk, db, nil)
			var want, got []string
			clk.Do("test", func() {
				ctx := context.Background()
				fill(t, s)
				want = describe(t, s)
				broken.Store(true)
				_, err := s.Container("docs").Blob("small2").Put(ctx, strings.NewReader(body), nil)
				if !errors.Is(err, bindings.ErrUnavailable) || !errors.Is(err, store.ErrDiskFull) {
					t.Errorf("put on a full disk: %v, want unavailable and disk full", err)
				}
				if err := s.Container("docs").Blob("dir/file").Delete(ctx, nil); !errors.Is(err, bindings.ErrUnavailable) {
					t.Errorf("delete on a full disk: %v", err)
				}
				if err := s.SetQueueMetadata(ctx, "orders", map[string]string{"z": "z"}); !errors.Is(err, bindings.ErrUnavailable) {
					t.Errorf("metadata on a full disk: %v", err)
				}
				broken.Store(false)
				got = describe(t, s)
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after the fault (-want +got):\n%s", diff)
			}
			clk.Do("put", func() {
				if _, err := s.Container("docs").Blob("small2").Put(context.Background(), strings.NewReader(body), nil); err != nil {
					t.Errorf("put after the fault: %v", err)
				}
			})
		})
	}
}

// countFiles counts the bodies that a data directory keeps as files.
func countFiles(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "files", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

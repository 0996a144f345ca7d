package growth_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
)

var ctx = context.Background()

func queueMessages(b *bench) {
	s := storage.New(clock.System(), nil)
	q := s.Queue("orders")
	b.must(q.Create(ctx))
	for range b.n {
		_, err := q.Put(ctx, "x", nil)
		b.must(err)
	}
	b.per("put", func(int) error { _, err := q.Put(ctx, "x", nil); return err })
	b.per("peek 32", func(int) error { _, err := q.Peek(ctx, 32); return err })
	b.per("count", func(int) error { _, err := q.Count(ctx); return err })
	b.per("receive, update and delete", func(int) error {
		list, err := q.Receive(ctx, 1, time.Minute)
		if err == nil {
			list[0], err = q.Update(ctx, list[0].ID, list[0].PopReceipt, nil, time.Minute)
		}
		if err == nil {
			err = q.Delete(ctx, list[0].ID, list[0].PopReceipt)
		}
		return err
	})
}

func hiddenMessages(b *bench) {
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	s := storage.New(clk, nil)
	q := s.Queue("orders")
	clk.Do("hide", func() {
		b.must(q.Create(ctx))
		for i := range b.n {
			_, err := q.Put(ctx, "x", &queue.PutOptions{Visibility: time.Hour + time.Duration(i)*time.Millisecond})
			b.must(err)
		}
		b.per("put a hidden one", func(int) error {
			_, err := q.Put(ctx, "x", &queue.PutOptions{Visibility: time.Hour})
			return err
		})
		b.per("receive nothing", func(int) error { _, err := q.Receive(ctx, 1, time.Second); return err })
		b.must(q.Clear(ctx)) // whose timers hold the clock's memory
	})
}

func container(b *bench) (*storage.Storage, blob.Container) {
	s := storage.New(clock.System(), nil)
	c := s.Container("box")
	_, err := c.Create(ctx, nil)
	b.must(err)
	return s, c
}

func manyBlobs(b *bench) {
	s, c := container(b)
	name := func(i int) string { return fmt.Sprintf("dir%05d/blob%09d", i/10, i) }
	for i := range b.n {
		tags := map[string]string{"kind": fmt.Sprint(i % 10), "number": fmt.Sprintf("%09d", i)}
		_, err := c.Blob(name(i)).Put(ctx, strings.NewReader("hello"), &blob.PutOptions{Tags: tags})
		b.must(err)
	}
	b.per("put", func(i int) error {
		_, err := c.Blob(fmt.Sprint("new", i)).Put(ctx, strings.NewReader("hello"), nil)
		return err
	})
	b.per("properties", func(i int) error { _, err := c.Blob(name(i)).Properties(ctx, nil); return err })
	b.per("list 10 from the middle", func(int) error {
		_, err := c.Blobs(ctx, &blob.ListOptions{Prefix: fmt.Sprintf("dir%05d/", b.n/20), MaxResults: 10})
		return err
	})
	b.per("list 10 prefixes", func(int) error {
		_, err := c.Blobs(ctx, &blob.ListOptions{Delimiter: "/", MaxResults: 10})
		return err
	})
	find := func(where string, want int) func(int) error {
		return func(int) error {
			page, err := s.FindBlobs(ctx, "", where, "", 10)
			if err == nil && len(page.Blobs) != want {
				err = fmt.Errorf("%d blobs, want %d", len(page.Blobs), want)
			}
			return err
		}
	}
	b.per("find 10 by a tag that many have", find("kind = '3'", 10))
	b.per("find none by tags", find("kind = 'none'", 0))
	b.per("find one by two tags", find("kind = '7' and number = '000000777'", 1))
	b.per("find 5 by a range", find("number >= '000000500' and number < '000000505'", 5))
	b.per("delete", func(i int) error { return c.Blob(name(i)).Delete(ctx, nil) })
}

func blockID(i int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%08d", i)) }

func blocks(b *bench) {
	_, c := container(b)
	of := c.Blob("blocks")
	n := min(b.n, blob.MaxBlocks)
	refs := make([]blob.BlockRef, n)
	for i := range refs {
		refs[i] = blob.BlockRef{ID: blockID(i)}
		_, err := of.PutBlock(ctx, refs[i].ID, strings.NewReader("hello"), nil)
		b.must(err)
	}
	b.per("put block", func(i int) error {
		_, err := of.PutBlock(ctx, blockID(i), strings.NewReader("hello"), nil)
		return err
	})
	_, err := of.PutBlockList(ctx, refs, nil)
	b.must(err)
	b.per("get 1 byte", func(int) error { return get(of, int64(2*n)) })
}

func get(of blob.Blob, at int64) error {
	d, err := of.Get(ctx, &blob.GetOptions{Range: &blob.Range{Offset: at, Count: 1}})
	if err == nil {
		_, err = io.Copy(io.Discard, d.Body)
		_ = d.Body.Close()
	}
	return err
}

func appendBlob(b *bench) {
	_, c := container(b)
	of := c.Blob("log")
	_, err := of.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob})
	b.must(err)
	add := func(int) error { _, err := of.AppendBlock(ctx, strings.NewReader("hello"), nil); return err }
	n := min(b.n, blob.MaxBlocks-1_000)
	for range n {
		b.must(add(0))
	}
	b.per("append", add)
	b.per("get 1 byte", func(int) error { return get(of, int64(n)) })
}

func pages(b *bench) {
	db, err := store.OpenMemory(nil)
	b.must(err)
	defer db.Close()
	durable, err := storage.Open(clock.System(), db, nil)
	b.must(err)
	for name, s := range map[string]*storage.Storage{"": storage.New(clock.System(), nil), ", durable": durable} {
		c := s.Container("box")
		_, err := c.Create(ctx, nil)
		b.must(err)
		_, err = c.Blob("disk").Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: 1 << 30})
		b.must(err)
		disk := c.Blob("disk").(interface {
			PutPages(ctx context.Context, at int64, body io.Reader, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
			ClearPages(ctx context.Context, span blob.Range, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
			PageRanges(ctx context.Context, within *blob.Range, since string, cond *blob.Conditions) (*blobs.PageRanges, error)
		})
		put := func(at int64) error {
			_, err := disk.PutPages(ctx, at, strings.NewReader(strings.Repeat("x", 512)), &blobs.PageOptions{})
			return err
		}
		for i := range b.n {
			b.must(put(int64(i) * 4096))
		}
		b.per("write a page anew"+name, func(i int) error { return put(int64(b.n/2+i) * 4096) })
		b.per("write a page between"+name, func(i int) error { return put(int64(b.n/2+i)*4096 + 1024) })
		b.per("clear a page"+name, func(i int) error {
			_, err := disk.ClearPages(ctx, blob.Range{Offset: int64(b.n/3+i) * 4096, Count: 512}, &blobs.PageOptions{})
			return err
		})
		b.per("list ranges of a part"+name, func(i int) error {
			_, err := disk.PageRanges(ctx, &blob.Range{Offset: int64(b.n/2+i) * 4096, Count: 4096}, "", nil)
			return err
		})
		b.per("get 1 byte"+name, func(i int) error { return get(c.Blob("disk"), int64(b.n/2+i)*4096) })
	}
}

func snapshots(b *bench) {
	_, c := container(b)
	of := c.Blob("doc")
	_, err := of.Put(ctx, strings.NewReader("hello"), nil)
	b.must(err)
	for range b.n {
		_, err := of.Snapshot(ctx, nil)
		b.must(err)
	}
	b.per("snapshot", func(int) error { _, err := of.Snapshot(ctx, nil); return err })
	b.per("list without snapshots", func(int) error { _, err := c.Blobs(ctx, nil); return err })
	b.per("list 10 snapshots", func(int) error {
		opts := &blob.ListOptions{MaxResults: 10}
		opts.Include.Snapshots = true
		_, err := c.Blobs(ctx, opts)
		return err
	})
	b.per("write", func(int) error { _, err := of.Put(ctx, strings.NewReader("hello"), nil); return err })
}

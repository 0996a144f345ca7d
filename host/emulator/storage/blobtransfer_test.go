package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// copiedInto has the call of the embedded account for an imported content.
type copiedInto interface {
	CopyIn(ctx context.Context, from *blobs.Imported, opts *blob.CopyOptions) (*blob.Copied, error)
}

// A blob goes from one account to another as it was when it was exported, whatever
// becomes of it meanwhile, between accounts in memory and in stores. A copy that is
// refused leaves nothing behind.
func TestBlobsGoBetweenAccounts(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{"memory to memory", "memory to store", "store to memory", "store to store"} {
		t.Run(kept, func(t *testing.T) {
			t.Parallel()
			clk := clock.System()
			ctx := context.Background()
			var dirs []string
			open := func(where string) *emulator.Storage {
				if where == "memory" {
					return emulator.New(clk, nil)
				}
				dirs = append(dirs, t.TempDir())
				return openAccount(t, clk, openStore(t, dirs[len(dirs)-1], &store.Options{}), nil)
			}
			source, target, _ := strings.Cut(kept, " to ")
			from, to := open(source), open(target)
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
			theirs, ours := from.Container("theirs"), to.Container("ours")
			done(theirs.Create(ctx, nil))
			done(ours.Create(ctx, nil))
			blocks, log, disk := theirs.Blob("blocks"), theirs.Blob("log"), theirs.Blob("disk")
			for i, text := range []string{"small", large('l')} {
				done(blocks.PutBlock(ctx, fmt.Sprintf("AAA%d", i), strings.NewReader(text), nil))
			}
			done(blocks.PutBlockList(ctx, []blob.BlockRef{{ID: "AAA1"}, {ID: "AAA0"}}, &blob.PutOptions{Metadata: map[string]string{"k": "v"}, Tags: map[string]string{"t": "v"}}))
			done(log.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}))
			done(log.AppendBlock(ctx, strings.NewReader("line"), nil))
			done(disk.Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: 64 << 10}))
			done(disk.(paged).PutPages(ctx, 1024, strings.NewReader(large('p')[:40<<10]), &blobs.PageOptions{}))
			done(disk.(paged).ClearPages(ctx, blob.Range{Offset: 2048, Count: 512}, &blobs.PageOptions{}))

			for _, name := range []string{"blocks", "log", "disk"} {
				want := read(t, theirs.Blob(name), nil)
				exported, err := from.Export(ctx, blob.Source{Container: "theirs", Name: name}, nil)
				check(err)
				done(theirs.Blob(name).Put(ctx, strings.NewReader("another"), nil)) // meanwhile
				imported, err := to.Import(exported)
				check(err)
				exported.Close()
				none := &blob.CopyOptions{Conditions: &blob.Conditions{IfMatch: `"0x1"`}}
				if _, err := ours.Blob(name).(copiedInto).CopyIn(ctx, imported, none); storage.CodeOf(err) != storage.CodeConditionNotMet {
					t.Errorf("copy of %s with a condition that does not hold = %v", name, err)
				}
				done(ours.Blob(name).(copiedInto).CopyIn(ctx, imported, &blob.CopyOptions{SourceURL: "there"}))
				imported.Discard()
				if got := read(t, ours.Blob(name), nil); string(got) != string(want) {
					t.Errorf("copy of %s has %d bytes, or others than the %d there were", name, len(got), len(want))
				}
			}
			p, err := ours.Blob("blocks").Properties(ctx, nil)
			check(err)
			if p.Metadata["k"] != "v" || p.TagCount != 0 || p.Copy == nil || p.Copy.Source != "there" {
				t.Errorf("properties of the copy = %+v", p)
			}
			list, err := ours.Blob("blocks").BlockList(ctx, nil)
			check(err)
			if len(list.Committed) != 2 || list.Committed[0].ID != "AAA1" {
				t.Errorf("blocks of the copy = %+v", list.Committed)
			}
			ranges, err := ours.Blob("disk").(paged).PageRanges(ctx, nil, "", nil)
			check(err)
			if len(ranges.Ranges) != 2 {
				t.Errorf("pages of the copy = %+v", ranges.Ranges)
			}
			done(ours.Blob("log").AppendBlock(ctx, strings.NewReader("more"), nil))
			if got := read(t, ours.Blob("log"), nil); string(got) != "linemore" {
				t.Errorf("log = %q", got)
			}

			exported, err := from.Export(ctx, blob.Source{Container: "theirs", Name: "disk"}, nil)
			check(err)
			imported, err := to.Import(exported)
			check(err)
			exported.Close()
			exported.Close()
			imported.Discard()
			if _, err := ours.Blob("late").(copiedInto).CopyIn(ctx, imported, &blob.CopyOptions{}); err == nil && target == "store" {
				t.Error("a copy of a discarded content")
			}
			if target == "store" {
				if n := countFiles(t, dirs[len(dirs)-1]); n != 2 { // of the blocks and of the pages
					t.Errorf("%d files, want 2", n)
				}
			}
			_, err = from.Export(ctx, blob.Source{Container: "theirs", Name: "none"}, nil)
			if storage.CodeOf(err) != storage.CodeCannotVerifyCopySource {
				t.Errorf("export of nothing = %v", err)
			}
		})
	}
}

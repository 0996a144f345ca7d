package storage_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// tagged has the calls of the embedded account for tags.
type tagged interface {
	SetTags(ctx context.Context, tags map[string]string, cond *blob.Conditions) error
	Tags(ctx context.Context, cond *blob.Conditions) (map[string]string, error)
}

// onBlobs runs f in the clock on a container of an account in memory.
func onBlobs(t *testing.T, f func(ctx context.Context, s *emulator.Storage, c blob.Container)) {
	t.Helper()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	s := emulator.New(clk, nil)
	clk.Do("test", func() {
		c := s.Container("docs")
		if _, err := c.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		f(t.Context(), s, c)
	})
}

func putTagged(t *testing.T, b blob.Blob, tags ...string) {
	t.Helper()
	opts := &blob.PutOptions{Tags: map[string]string{}}
	for i := 0; i+1 < len(tags); i += 2 {
		opts.Tags[tags[i]] = tags[i+1]
	}
	if _, err := b.Put(context.Background(), strings.NewReader("x"), opts); err != nil {
		t.Fatal(err)
	}
}

// Source of the rules: docs, Specifying conditional headers, "x-ms-if-tags"; Azurite,
// tests/blob/apis/blob.test.ts, whose cases its authors ran against the service.
func TestConditionsOnTags(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, _ *emulator.Storage, c blob.Container) {
		b := c.Blob("a")
		putTagged(t, b, "status", "done", "n", "5", "a key", "it+x")
		for _, row := range []struct {
			query string
			code  storage.Code
		}{
			{"status = 'done'", ""},
			{"status='open'", storage.CodeConditionNotMet},
			{`"status" <> 'open' AND n >= '5' and n<'6'`, ""},
			{"status='open' or n='5'", ""},
			{"(status='open' or n='5') and n='6'", storage.CodeConditionNotMet},
			{"status='open' or n='5' and n='6'", storage.CodeConditionNotMet},
			{"none = 'x'", storage.CodeConditionNotMet},
			{"none <> 'x'", storage.CodeConditionNotMet},
			{`"a key" = 'it+x'`, ""},
			{"n > '45'", ""}, // texts, not numbers
			{strings.Repeat("k", 130) + " = 'x'", storage.CodeConditionNotMet},
			{"status == 'done'", storage.CodeInvalidHeaderValue},
			{"status = done", storage.CodeInvalidHeaderValue},
			{"@container = 'docs'", storage.CodeInvalidHeaderValue},
			{"a+b = 'x'", storage.CodeInvalidHeaderValue},
			{"status = 'a$'", storage.CodeInvalidHeaderValue},
			{"status = 'done", storage.CodeInvalidHeaderValue},
			{"(status = 'done'", storage.CodeInvalidHeaderValue},
			{strings.Repeat("(", 200) + "n='5'" + strings.Repeat(")", 200), storage.CodeInvalidHeaderValue},
			{"status <> 'a'" + strings.Repeat(" and status <> 'b'", 700), ""},
		} {
			cond := &blob.Conditions{IfTags: row.query}
			_, readErr := b.Get(ctx, &blob.GetOptions{Conditions: cond})
			_, writeErr := b.SetMetadata(ctx, nil, cond)
			for _, err := range []error{readErr, writeErr} {
				if got := storage.CodeOf(err); got != row.code {
					t.Errorf("%.60s: %v, want code %q", row.query, err, row.code)
				}
			}
		}
		cond := &blob.Conditions{IfTags: "status = 'open'"}
		for what, err := range map[string]error{
			"Put":          second(b.Put(ctx, strings.NewReader("y"), &blob.PutOptions{Conditions: cond})),
			"PutBlockList": second(b.PutBlockList(ctx, nil, &blob.PutOptions{Conditions: cond})),
			"Snapshot":     second(b.Snapshot(ctx, &blob.SnapshotOptions{Conditions: cond})),
			"AcquireLease": second(b.AcquireLease(ctx, blob.MinLease, "", cond)),
			"Delete":       b.Delete(ctx, &blob.DeleteOptions{Conditions: cond}),
			"new":          second(c.Blob("b").Put(ctx, nil, &blob.PutOptions{Conditions: cond})),
			"Properties":   second(b.Properties(ctx, cond)),
		} {
			if storage.CodeOf(err) != storage.CodeConditionNotMet {
				t.Errorf("%s = %v, want ConditionNotMet", what, err)
			}
		}
		_, err := c.Blob("copy").CopyFrom(ctx, blob.Source{Container: "docs", Name: "a"}, &blob.CopyOptions{SourceConditions: cond})
		if storage.CodeOf(err) != storage.CodeConditionNotMet { // as it is named at the service: azure-storage-blob for Python, recording of test_async_copy_blob_with_if_tags
			t.Errorf("CopyFrom = %v, want ConditionNotMet", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// Tags are no version of a blob: its ETag stays, and no wait for changes is woken
// (spec storage 9.3).
func TestTagsAreNoChange(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, s *emulator.Storage, c blob.Container) {
		b := c.Blob("a")
		putTagged(t, b, "k", "1")
		before, err := b.Properties(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		changed, events := 0, 0
		defer s.OnChange("docs", func(string) { changed++ })()
		defer s.OnBlobEvent(func(blobs.Event) { events++ })()
		if err := b.(tagged).SetTags(ctx, map[string]string{"k": "2", "l": ""}, nil); err != nil {
			t.Fatal(err)
		}
		after, err := b.Properties(ctx, nil)
		if err != nil || after.ETag != before.ETag || after.LastModified != before.LastModified || !maps.Equal(after.Tags, map[string]string{"k": "2", "l": ""}) {
			t.Errorf("after the tags were set: %+v, %v; before %+v", after, err, before)
		}
		if changed != 0 || events != 0 {
			t.Errorf("tags woke %d and raised %d events", changed, events)
		}
		// A write of the whole blob replaces them, one of what stands beside it does not.
		if _, err := b.SetMetadata(ctx, map[string]string{"m": "1"}, nil); err != nil {
			t.Fatal(err)
		}
		if tags, err := b.(tagged).Tags(ctx, nil); err != nil || len(tags) != 2 {
			t.Errorf("tags after SetMetadata = %v, %v", tags, err)
		}
		putTagged(t, b)
		if tags, err := b.(tagged).Tags(ctx, nil); err != nil || len(tags) != 0 {
			t.Errorf("tags after Put = %v, %v", tags, err)
		}
	})
}

func TestTagLimits(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, _ *emulator.Storage, c blob.Container) {
		b := c.Blob("a")
		putTagged(t, b)
		eleven := map[string]string{}
		for i := range 11 {
			eleven[fmt.Sprint(i)] = ""
		}
		for _, row := range []struct {
			tags map[string]string
			code storage.Code
		}{
			{map[string]string{strings.Repeat("k", 128): strings.Repeat("v", 256)}, ""},
			{map[string]string{strings.Repeat("k", 129): ""}, storage.CodeTagsTooLarge},
			{map[string]string{"k": strings.Repeat("v", 257)}, storage.CodeTagsTooLarge},
			{eleven, storage.CodeTagsTooLarge},
			{map[string]string{"": "v"}, storage.CodeEmptyTagName},
			{map[string]string{"k#": "v"}, storage.CodeInvalidTag},
			{map[string]string{"k": "v%"}, storage.CodeInvalidTag},
			{map[string]string{"azAZ09 +-./:=_": "azAZ09 +-./:=_"}, ""},
		} {
			_, putErr := b.Put(ctx, nil, &blob.PutOptions{Tags: row.tags})
			for _, err := range []error{b.(tagged).SetTags(ctx, row.tags, nil), putErr} {
				if got := storage.CodeOf(err); got != row.code {
					t.Errorf("%.40v: %v, want code %q", row.tags, err, row.code)
				}
			}
		}
		lease, err := b.AcquireLease(ctx, blob.MinLease, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.(tagged).SetTags(ctx, nil, nil); storage.CodeOf(err) != storage.CodeLeaseIDMissing {
			t.Errorf("SetTags of a leased blob = %v", err)
		}
		if err := b.(tagged).SetTags(ctx, nil, &blob.Conditions{LeaseID: lease.ID}); err != nil {
			t.Errorf("SetTags with the lease = %v", err)
		}
	})
}

// Source: docs, Find Blobs by Tags; Azurite, tests/blob/apis/service.test.ts.
func TestFindBlobsByTags(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, s *emulator.Storage, c blob.Container) {
		other := s.Container("archive")
		if _, err := other.Create(ctx, nil); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			putTagged(t, c.Blob(fmt.Sprint("b", i)), "n", fmt.Sprint(i), "kind", "x")
			putTagged(t, other.Blob(fmt.Sprint("a", i)), "n", fmt.Sprint(i))
		}
		if _, err := c.Blob("b0").Snapshot(ctx, nil); err != nil {
			t.Fatal(err)
		}
		find := func(container, where string, most int) (got []string, err error) {
			marker := ""
			for {
				page, err := s.FindBlobs(ctx, container, where, marker, most)
				if err != nil {
					return nil, err
				}
				for _, b := range page.Blobs {
					got = append(got, fmt.Sprint(b.Container, "/", b.Name, " ", slices.Sorted(maps.Keys(b.Tags))))
				}
				if marker = page.NextMarker; marker == "" {
					return got, nil
				}
			}
		}
		for _, row := range []struct {
			container, where string
			want             []string
		}{
			{"", "n = '0'", []string{"archive/a0 [n]", "docs/b0 [n]"}},
			{"docs", "n = '0'", []string{"docs/b0 [n]"}},
			{"", "@container = 'docs' and n > '1' and n <= '3' and kind = 'x'", []string{"docs/b2 [kind n]", "docs/b3 [kind n]"}},
			{"", "n >= '2'", []string{"archive/a2 [n]", "archive/a3 [n]", "docs/b2 [n]", "docs/b3 [n]"}},
			{"", "none = 'x'", nil},
		} {
			for _, most := range []int{0, 1, 3} {
				got, err := find(row.container, row.where, most)
				if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
					t.Errorf("%q in %q by %d: %v (-want +got):\n%s", row.where, row.container, most, err, diff)
				}
			}
		}
		many := "k0 = 'x'"
		for i := range 10 {
			many += fmt.Sprintf(" and k%d = 'x'", i+1)
		}
		for _, where := range []string{"n <> '0'", "n='0' or n='1'", "'n'='0'", "n", "n='0' and n='1'", "n > '0' and n > '1'", many, strings.Repeat("k", 129) + "='x'", "n = '" + strings.Repeat("v", 257) + "'", "n='@'", "@box='docs'", "n='0' android='1'"} {
			if _, err := find("", where, 0); !blobs.IsTagQueryError(err) {
				t.Errorf("%.40s: %v, want an error about the expression", where, err)
			}
		}
		if _, err := find("none", "n='0'", 0); storage.CodeOf(err) != storage.CodeContainerNotFound {
			t.Errorf("in no container: %v", err)
		}
	})
}

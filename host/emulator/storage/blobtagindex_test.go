package storage_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// A search by tags finds, page by page and in order, what a look at every blob finds,
// whatever was written, tagged anew, deleted and brought back before.
func TestFindingByTagsIsALookAtEveryBlob(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, s *storage.Storage, c blob.Container) {
		random := rand.New(rand.NewPCG(3, 4))
		other := s.Container("other")
		if _, err := other.Create(ctx, nil); err != nil {
			t.Fatal(err)
		}
		want := map[string]map[string]string{} // by container/name
		for range 600 {
			in := []blob.Container{c, other}[random.IntN(2)]
			name := fmt.Sprint("b", random.IntN(60))
			b, key := in.Blob(name), in.Name()+"/"+name
			tags := map[string]string{"a": fmt.Sprint(random.IntN(3)), "b": fmt.Sprint(random.IntN(9))}
			if random.IntN(3) == 0 {
				delete(tags, "a")
			}
			switch {
			case random.IntN(4) == 0 && want[key] != nil:
				if err := b.Delete(ctx, nil); err != nil {
					t.Fatal(err)
				}
				delete(want, key)
				continue
			case random.IntN(2) == 0 && want[key] != nil:
				if err := b.(interface {
					SetTags(context.Context, map[string]string, *blob.Conditions) error
				}).SetTags(ctx, tags, nil); err != nil {
					t.Fatal(err)
				}
			default:
				if _, err := b.Put(ctx, strings.NewReader("x"), &blob.PutOptions{Tags: tags}); err != nil {
					t.Fatal(err)
				}
			}
			want[key] = tags
		}
		for _, search := range []struct {
			container, where string
			holds            func(container string, tags map[string]string) bool
		}{
			{"", "a = '1'", func(_ string, tags map[string]string) bool { return tags["a"] == "1" }},
			{"", "a = '1' and b = '2'", func(_ string, tags map[string]string) bool { return tags["a"] == "1" && tags["b"] == "2" }},
			{"", "b >= '3' and b < '7'", func(_ string, tags map[string]string) bool { return tags["b"] >= "3" && tags["b"] < "7" }},
			{"", "b > '3' and b <= '7' and a = '0'", func(_ string, tags map[string]string) bool {
				return tags["b"] > "3" && tags["b"] <= "7" && tags["a"] == "0"
			}},
			{"", "b > '1' and b <= '6'", func(_ string, tags map[string]string) bool { return tags["b"] > "1" && tags["b"] <= "6" }},
			{"", "b > '7' and a < '2'", func(_ string, tags map[string]string) bool {
				_, ok := tags["a"]
				return tags["b"] > "7" && ok && tags["a"] < "2"
			}},
			{"", "@container = 'other' and a = '2'", func(in string, tags map[string]string) bool { return in == "other" && tags["a"] == "2" }},
			{"", "@container = 'other'", func(in string, _ map[string]string) bool { return in == "other" }},
			{"other", "b = '4'", func(in string, tags map[string]string) bool { return in == "other" && tags["b"] == "4" }},
			{"other", "b < '4'", func(in string, tags map[string]string) bool { return in == "other" && tags["b"] < "4" }},
			{"", "c = '4'", func(string, map[string]string) bool { return false }},
			{"", "b > '5' and b < '3'", func(string, map[string]string) bool { return false }},
		} {
			var all []string
			for _, key := range slices.Sorted(maps.Keys(want)) {
				if in, _, _ := strings.Cut(key, "/"); search.holds(in, want[key]) {
					all = append(all, key)
				}
			}
			var got []string
			for marker := ""; ; {
				page, err := s.FindBlobs(ctx, search.container, search.where, marker, 4)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range page.Blobs {
					got = append(got, b.Container+"/"+b.Name)
				}
				if marker = page.NextMarker; marker == "" {
					break
				}
			}
			if diff := cmp.Diff(all, got); diff != "" {
				t.Errorf("%s in %q (-want +got):\n%s", search.where, search.container, diff)
			}
		}
	})
}

package rest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var rangeElement = regexp.MustCompile("<(Page|Clear)Range><Start>([0-9]+)</Start><End>([0-9]+)</End></")

// ranges is a list of page ranges in short: pages that it counts in 512 bytes, cleared
// ones with a minus.
func ranges(list string) string {
	var out []string
	for _, m := range rangeElement.FindAllStringSubmatch(list, -1) {
		var from, to int
		fmt.Sscan(m[2], &from)
		fmt.Sscan(m[3], &to)
		sign := map[string]string{"Page": "", "Clear": "-"}[m[1]]
		out = append(out, fmt.Sprintf("%s%d..%d", sign, from/512, to/512))
	}
	return strings.Join(out, " ")
}

// What has been written or cleared since a snapshot, between two snapshots, and within
// a range.
//
// Source: docs, Get Page Ranges, "prevsnapshot"; Blob Storage error codes.
func TestPageRangeDifferences(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	const path = "/box/disk"
	b.want(201, "", "PUT", path, "", header("X-Ms-Blob-Type", "PageBlob"), header("X-Ms-Blob-Content-Length", "8192"))
	page := func(how string, first, last int) {
		t.Helper()
		body := ""
		if how == "update" {
			body = strings.Repeat("x", (last-first+1)*512)
		}
		b.want(201, "", "PUT", path+"?comp=page", body, header("X-Ms-Page-Write", how), header("X-Ms-Range", fmt.Sprintf("bytes=%d-%d", first*512, last*512+511)))
	}
	snapshot := func() string {
		t.Helper()
		b.clk.Advance(time.Second)
		return b.want(201, "", "PUT", path+"?comp=snapshot", "").Header.Get("X-Ms-Snapshot")
	}
	check := func(want, since string, more ...string) {
		t.Helper()
		got := ranges(b.want(200, "", "GET", path+query(append(more, "comp", "pagelist", "prevsnapshot", since)...), "").Body)
		if got != want {
			t.Errorf("difference %v = %q, want %q", more, got, want)
		}
	}
	page("update", 0, 3)
	page("update", 6, 7)
	first := snapshot()
	check("", first)
	page("update", 2, 2)
	page("clear", 3, 3)
	page("update", 9, 10)
	second := snapshot()
	check("2..2 -3..3 9..10", first)
	check("", second)
	check("2..2 -3..3 9..10", first, "snapshot", second)
	page("clear", 0, 15)
	check("-0..2 -6..7 -9..10", second)
	check("-0..3 -6..7 -9..10", first) // what a snapshot in between has was cleared since
	page("update", 1, 1)
	check("-0..0 1..1 -2..3 -6..7 -9..10", first)
	got := ranges(b.want(200, "", "GET", path+query("comp", "pagelist", "prevsnapshot", first), "", header("X-Ms-Range", "bytes=512-1535")).Body)
	if got != "1..1 -2..2" {
		t.Errorf("difference within a range = %q, want 1..1 -2..2", got)
	}

	b.want(400, "PreviousSnapshotCannotBeNewer", "GET", path+query("comp", "pagelist", "snapshot", first, "prevsnapshot", second), "")
	b.want(409, "PreviousSnapshotNotFound", "GET", path+query("comp", "pagelist", "prevsnapshot", "2029-01-02T03:04:05.0000000Z"), "")
	b.clk.Advance(time.Second)
	b.want(201, "", "PUT", path, "", header("X-Ms-Blob-Type", "PageBlob"), header("X-Ms-Blob-Content-Length", "8192"))
	b.want(409, "BlobOverwritten", "GET", path+query("comp", "pagelist", "prevsnapshot", first), "")
}

// Lists of ranges come in pages when that is asked for.
//
// Source: docs, Get Page Ranges, "maxresults", "marker".
func TestPageRangesInPages(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	const path = "/box/disk"
	b.want(201, "", "PUT", path, "", header("X-Ms-Blob-Type", "PageBlob"), header("X-Ms-Blob-Content-Length", "8192"))
	for _, at := range []int{0, 2, 4, 6, 8} {
		b.want(201, "", "PUT", path+"?comp=page", strings.Repeat("x", 512), header("X-Ms-Page-Write", "update"), header("X-Ms-Range", fmt.Sprintf("bytes=%d-%d", at*512, at*512+511)))
	}
	if list := b.want(200, "", "GET", path+"?comp=pagelist", "").Body; strings.Contains(list, "NextMarker") || ranges(list) != "0..0 2..2 4..4 6..6 8..8" {
		t.Errorf("list = %s", list)
	}
	var got []string
	for marker := ""; ; {
		values := []string{"comp", "pagelist", "maxresults", "2"}
		if marker != "" {
			values = append(values, "marker", marker)
		}
		list := b.want(200, "", "GET", path+query(values...), "").Body
		got = append(got, ranges(list))
		_, marker, _ = strings.Cut(list, "<NextMarker>")
		if marker, _, _ = strings.Cut(marker, "</NextMarker>"); marker == "" {
			break
		}
	}
	if text := strings.Join(got, ","); text != "0..0 2..2,4..4 6..6,8..8" {
		t.Errorf("pages = %s", text)
	}
	b.want(400, "OutOfRangeQueryParameterValue", "GET", path+"?comp=pagelist&maxresults=0", "")
	b.want(400, "InvalidQueryParameterValue", "GET", path+"?comp=pagelist&marker=x", "")
}

// A blob is deleted on conditions of the time at which its tier was set.
//
// Source: docs, Delete Blob, "x-ms-access-tier-if-modified-since"; azure-storage-blob for
// Python 12.31.1, test_delete_blob_access_tier_conditionals.
func TestDeleteOnConditionsOfTheTier(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	since, until := "X-Ms-Access-Tier-If-Modified-Since", "X-Ms-Access-Tier-If-Unmodified-Since"
	before := b.clk.Now().Format(http.TimeFormat)
	b.clk.Advance(time.Minute)
	b.upload("/box/a", "text", header("X-Ms-Access-Tier", "Cool"))
	at := b.clk.Now().Format(http.TimeFormat)
	b.want(412, "ConditionNotMet", "DELETE", "/box/a", "", header(since, at))
	b.want(412, "ConditionNotMet", "DELETE", "/box/a", "", header(until, before))
	b.want(400, "InvalidHeaderValue", "DELETE", "/box/a", "", header(until, "yesterday"))
	b.want(202, "", "DELETE", "/box/a", "", header(since, before), header(until, at))
	b.upload("/box/a", "text")
	b.want(412, "ConditionNotMet", "DELETE", "/box/a", "", header(since, before))
}

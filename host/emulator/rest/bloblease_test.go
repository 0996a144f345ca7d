package rest_test

import (
	"net/http"
	"testing"
)

// A lease identifier is a GUID, in whatever form it is written; the answers have it in
// one.
//
// Source: recorded answers of the service (SDK for JavaScript, recordings of its lease
// tests); docs, Lease Blob, "x-ms-proposed-lease-id".
func TestLeaseIdentifiersAreGUIDs(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/a", "text")
	const plain, dashed = "CA761232ED4211CEBACD00AA0057B223", "ca761232-ed42-11ce-bacd-00aa0057b223"
	const other, otherDashed = "{0D6C3E57-1111-4222-8333-ABCDEF012345}", "0d6c3e57-1111-4222-8333-abcdef012345"
	lease := func(status int, action string, headers ...string) string {
		t.Helper()
		return b.want(status, "", "PUT", "/box/a?comp=lease", "", func(r *http.Request) {
			r.Header.Set("X-Ms-Lease-Action", action)
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
		}).Header.Get("X-Ms-Lease-Id")
	}
	for _, form := range []string{plain, dashed, "(" + dashed + ")"} { // again by the same
		if got := lease(201, "acquire", "X-Ms-Lease-Duration", "-1", "X-Ms-Proposed-Lease-Id", form); got != dashed {
			t.Errorf("acquired by %s: %s, want %s", form, got, dashed)
		}
	}
	lease(200, "renew", "X-Ms-Lease-Id", "{"+dashed+"}")
	b.want(200, "", "PUT", "/box/a?comp=metadata", "", header("X-Ms-Lease-Id", plain))
	if got := lease(200, "change", "X-Ms-Lease-Id", dashed, "X-Ms-Proposed-Lease-Id", other); got != otherDashed {
		t.Errorf("changed to %s: %s, want %s", other, got, otherDashed)
	}
	b.want(412, "LeaseIdMismatchWithBlobOperation", "PUT", "/box/a?comp=metadata", "", header("X-Ms-Lease-Id", dashed))
	lease(200, "release", "X-Ms-Lease-Id", otherDashed)
}

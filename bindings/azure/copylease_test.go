package azure_test

import (
	"slices"
	"testing"
	"time"
)

// TestCopyAndLeases: Copy Blob between blobs with and without leases is answered as Azurite
// answers, asynchronously and with x-ms-requires-sync, and what lies at the destination
// afterwards, with its lease, is the same.
func TestCopyAndLeases(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteMain, azuriteBlobMain)
	const right, wrong = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	step := func(op, method, path string, query, header []string, body string) *exchange {
		return &exchange{op: op, service: 'b', method: method, path: path, query: query, header: header, body: body}
	}
	lease := func(path, duration string) *exchange {
		return step("LeaseBlob", "PUT", path, []string{"comp", "lease"}, []string{"x-ms-lease-action", "acquire", "x-ms-lease-duration", duration, "x-ms-proposed-lease-id", right}, "")
	}
	breaking := step("LeaseBlob", "PUT", "/{box}/to", []string{"comp", "lease"}, []string{"x-ms-lease-action", "break", "x-ms-lease-break-period", "30"}, "")
	const source, to = "/{box}/from", "/{box}/to"
	p := newPair(t)
	for _, from := range []struct {
		name  string
		lease []*exchange
	}{
		{"a free source", nil},
		{"a leased source", []*exchange{lease(source, "-1")}},
		{"a source leased for a while", []*exchange{lease(source, "60")}},
	} {
		for _, at := range []struct {
			name  string
			lease []*exchange
			wait  time.Duration
		}{
			{"a free destination", nil, 0},
			{"a leased destination", []*exchange{lease(to, "-1")}, 0},
			{"a destination leased for a while", []*exchange{lease(to, "60")}, 0},
			{"a destination with an ended lease", []*exchange{lease(to, "15")}, time.Minute},
			{"a destination whose lease breaks", []*exchange{lease(to, "60"), breaking}, 0},
			{"a destination with a broken lease", []*exchange{lease(to, "60"), breaking}, time.Minute},
		} {
			for _, id := range [][]string{nil, {"x-ms-lease-id", right}, {"x-ms-lease-id", wrong}} {
				for _, mode := range [][]string{nil, {"x-ms-requires-sync", "true"}} {
					copied := step("CopyBlob", "PUT", to, nil, slices.Concat([]string{"x-ms-copy-source", "{blobs}" + source}, id, mode), "")
					copied.wait = at.wait
					program := slices.Concat(
						[]*exchange{
							step("CreateContainer", "PUT", "/{box}", []string{"restype", "container"}, []string{"x-ms-blob-public-access", "blob"}, ""),
							step("PutBlob", "PUT", source, nil, []string{"x-ms-blob-type", "BlockBlob"}, "new"),
							step("PutBlob", "PUT", to, nil, []string{"x-ms-blob-type", "BlockBlob"}, "old"),
						},
						from.lease, at.lease,
						[]*exchange{copied, step("GetBlobProperties", "HEAD", to, nil, nil, ""), step("GetBlobProperties", "HEAD", source, nil, nil, "")},
					)
					last, found := p.run(t, program, map[string]int{})
					for _, d := range found {
						t.Errorf("%s, %s, %q %q: %s: %v", from.name, at.name, id, mode, last.op, d)
					}
				}
			}
		}
	}
}

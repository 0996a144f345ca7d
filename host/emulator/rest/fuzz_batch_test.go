package rest

import "testing"

// FuzzBatch: whatever a batch is, it is read or refused, and never larger than it may be.
func FuzzBatch(f *testing.F) {
	f.Add("multipart/mixed; boundary=b", []byte("--b\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nDELETE /a/box/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n--b--\r\n"))
	f.Add("multipart/mixed; Boundary=\"a=b\"", []byte("--a=b\r\n\r\nx\r\n--a=b--"))
	f.Add("multipart/mixed; boundary=", []byte("--\r\n\r\n"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		boundary, refused := batchBoundary(kind)
		if refused != nil {
			return
		}
		requests, refused := readBatch(body, boundary)
		if refused == nil && (len(requests) == 0 || len(requests) > maxBatchRequests) {
			t.Errorf("%d requests", len(requests))
		}
		for _, one := range requests {
			if (one.r == nil) != (one.bad != nil) {
				t.Errorf("request %q is neither good nor bad", one.id)
			}
		}
	})
}

//clock:outside sockets and their callers are of the real world

package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/redeliver/redeliver/bindings"
)

// An answer that goes out as it comes is compressed part by part, and one that breaks off
// does not look whole.
func TestCompressedStream(t *testing.T) {
	t.Parallel()
	for coding, decode := range map[string]func(io.Reader) (io.Reader, error){
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		t.Run(coding, func(t *testing.T) {
			t.Parallel()
			read := make(chan struct{}, 2) //clock:outside the caller has read the first part
			whole := true
			s := &Server{opts: Options{MaxBody: 1 << 20}}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c := &compressed{ResponseWriter: w, coding: coding}
				defer c.end()
				s.stream(c, r, func(r *bindings.HTTPRequest) *bindings.HTTPResponse {
					a := r.Stream.Answer(200, http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"10"}})
					_, _ = io.WriteString(a, "first")
					<-read //clock:outside of the caller
					_, _ = io.WriteString(a, " last")
					if whole {
						_ = a.Close()
					}
					return nil
				})
			}))
			defer server.Close()
			defer close(read) //clock:outside a caller that has failed reads no more
			for _, whole = range []bool{true, false} {
				req, err := http.NewRequest("GET", server.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept-Encoding", coding)
				resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req) // it waits so long only if parts do not come
				if err != nil {
					t.Fatal(err)
				}
				body, err := decode(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				first := make([]byte, 5)
				if _, err := io.ReadFull(body, first); err != nil || string(first) != "first" {
					t.Errorf("before the end: %q, %v", first, err)
				}
				read <- struct{}{} //clock:outside of the caller
				rest, err := io.ReadAll(body)
				if string(rest) != " last" || (err == nil) != whole {
					t.Errorf("whole %v: then %q, %v", whole, rest, err)
				}
				_ = resp.Body.Close()
			}
		})
	}
}

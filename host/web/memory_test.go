package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions"
)

// TestRequestAllocatesLittle holds what docs/performance.md says of an HTTP request: the
// request of BenchmarkHTTP, without a socket. It is not parallel: it counts what the process
// allocates.
func TestRequestAllocatesLittle(t *testing.T) {
	const most = 150 // 141 alone
	handlers := functions.New()
	handlers.HTTP("Hello", func(w http.ResponseWriter, r *http.Request) {
		said, _ := io.ReadAll(r.Body)
		_, _ = w.Write(append([]byte("hello "), said...))
	}, functions.AuthLevel("anonymous"))
	d := open(t, app(plainHostJSON), handlers, nil)
	served := d.web.Handler()
	got := testing.AllocsPerRun(500, func() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/api/Hello", strings.NewReader("world"))
		r.Header.Set("Content-Type", "text/plain")
		if served.ServeHTTP(w, r); w.Code != 200 || w.Body.String() != "hello world" {
			t.Fatalf("answer %d %q", w.Code, w.Body)
		}
	})
	if got > most {
		t.Errorf("a request allocates %.0f pieces, want %d at the most", got, most)
	}
}

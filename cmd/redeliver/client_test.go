package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever else has the port is no host, even if it says yes to everything.
func TestForeignServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 302, 404, 405, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == 302 {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(status)
			if status != 204 {
				fmt.Fprint(w, "<html>hello")
			}
		}))
		t.Cleanup(server.Close)
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "file")
		for _, args := range [][]string{
			{"ls"}, {"clock"}, {"send", "queue", "orders", "x"}, {"invoke", "Orders"}, {"stop"}, {"delete", "servicebus", "orders"},
			{"download", "files/a", file}, {"download", "files/a", "-"}, {"upload", "files/a", "-"}, {"state", "save", file},
		} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), append(args, "--port", u.Port()), streams{in: strings.NewReader("x"), out: &stdout, err: &stderr})
			want := "redeliver: error: what answers at http://localhost:" + u.Port() + " is not a redeliver host\n"
			if code != exitFailure || stdout.String() != "" || !strings.HasPrefix(stderr.String(), want) {
				t.Errorf("%d to %q: exit code %d, %q and %q, want %q", status, args, code, stdout.String(), stderr.String(), want)
			}
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%d: a file was written", status)
		}
	}
}

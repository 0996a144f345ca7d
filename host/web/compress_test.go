package web_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/redeliver/redeliver/functions"
)

// With the flag EnableResponseCompression answers are compressed as the middleware of
// ASP.NET Core does it (spec drift-2026 C-20; ResponseCompressionProvider.cs).
func TestResponseCompression(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("said again and again ", 100)
	handlers := functions.New()
	handlers.HTTP("Says", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", r.URL.Query().Get("type"))
		if own := r.URL.Query().Get("own"); own != "" {
			h.Set("Content-Encoding", own)
		}
		if vary := r.URL.Query().Get("vary"); vary != "" {
			h.Set("Vary", vary)
		}
		if r.URL.Query().Has("empty") {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprint(w, text)
	}, functions.AuthLevel(functions.AuthAnonymous))
	with := func(flags string) *fixture {
		files := app(plainHostJSON)
		files["local.settings.json"] = settings(map[string]string{"AzureWebJobsFeatureFlags": flags})
		return open(t, files, handlers, nil)
	}
	on := with("SomethingElse,enableresponsecompression")
	for _, row := range []struct {
		d                        *fixture
		query, accept            string
		coding, vary, whatItSays string
	}{
		{on, "type=text/plain", "gzip", "gzip", "Accept-Encoding", text},
		{on, "type=text/plain", "gzip, deflate, br", "br", "Accept-Encoding", text},
		{on, "type=application/json%3Bcharset=utf-8", "gzip;q=1.0, br;q=0.5", "gzip", "Accept-Encoding", text},
		{on, "type=Text/HTML", "*", "br", "Accept-Encoding", text},
		{on, "type=text/html", "br;q=0, *;q=0.1", "gzip", "Accept-Encoding", text},
		{on, "type=text/html", "identity, gzip;q=0.5", "", "Accept-Encoding", text},
		{on, "type=text/html", "identity, gzip", "gzip", "Accept-Encoding", text},
		{on, "type=text/html", "gzip;q=0", "", "Accept-Encoding", text},
		{on, "type=text/html", "deflate", "", "Accept-Encoding", text},
		{on, "type=text/html&vary=Origin,accept-encoding", "gzip", "gzip", "Origin,accept-encoding", text},
		{on, "type=text/html", "", "", "", text},
		{on, "type=image/png", "gzip", "", "", text},
		{on, "type=text/event-stream", "gzip", "", "", text},
		{on, "type=text/plain&own=x-mine", "gzip", "x-mine", "", text},
		{on, "type=text/plain&empty", "gzip", "", "", ""},
		{with(""), "type=text/plain", "gzip", "", "", text},
		{with("EnableResponseCompressions"), "type=text/plain", "gzip", "", "", text},
	} {
		status := 200
		if row.whatItSays == "" {
			status = 202
		}
		got := row.d.want(status, "GET", "/api/Says?"+row.query, "", func(r *http.Request) {
			if row.accept != "" {
				r.Header.Set("Accept-Encoding", row.accept)
			} else {
				r.Header.Set("Range", "bytes=0-") // then the client does not ask for gzip by itself
			}
		})
		if coding, vary := got.Header.Get("Content-Encoding"), strings.Join(got.Header.Values("Vary"), "|"); coding != row.coding || vary != row.vary {
			t.Errorf("%s for %q: coding %q, vary %q, want %q, %q", row.query, row.accept, coding, vary, row.coding, row.vary)
		}
		if said := decoded(t, got); said != row.whatItSays {
			t.Errorf("%s for %q says %.60q", row.query, row.accept, said)
		}
	}
	control := on.want(200, "GET", prefix+"/status", "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	if coding := control.Header.Get("Content-Encoding"); coding != "" {
		t.Errorf("the control API answers in %q", coding)
	}
}

// decoded is the body of an answer without its coding.
func decoded(t *testing.T, a answer) string {
	var from io.Reader = strings.NewReader(a.Body)
	switch a.Header.Get("Content-Encoding") {
	case "br":
		from = brotli.NewReader(from)
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = unpacked
	}
	said, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

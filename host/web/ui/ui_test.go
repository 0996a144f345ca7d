package ui_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/web/ui"
)

// most is what all files of the page may have together, compressed.
const most = 200 << 10

func get(method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	ui.Handler().ServeHTTP(w, r)
	return w
}

// paths are the files of the page.
func paths(t *testing.T) (out []string) {
	t.Helper()
	if err := fs.WalkDir(ui.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// The page is small: it loads at once, and adds little to the binary.
func TestSize(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	for _, name := range paths(t) {
		text, err := fs.ReadFile(ui.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if packed.Len() >= most {
		t.Errorf("the page has %d bytes compressed, want less than %d", packed.Len(), most)
	}
	t.Logf("%d bytes compressed, of at most %d", packed.Len(), most)
}

// Each file has its type, and a policy under which nothing but the page's own files runs.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, name := range append(paths(t), "") {
		w := get("GET", "/"+name)
		if w.Code != 200 || w.Body.Len() == 0 {
			t.Fatalf("%q: %d, %d bytes", name, w.Code, w.Body.Len())
		}
		for header, want := range map[string]string{
			"Content-Security-Policy": ui.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%q: %s is %q, want %q", name, header, got, want)
			}
		}
		if kind := w.Header().Get("Content-Type"); strings.HasPrefix(kind, "application/octet-stream") {
			t.Errorf("%q has the type %s: name its extension", name, kind)
		}
		cache := "no-cache"
		if strings.HasPrefix(name, "assets/") {
			cache = "public, max-age=31536000, immutable"
		}
		if got := w.Header().Get("Cache-Control"); got != cache {
			t.Errorf("%q: Cache-Control %q, want %q", name, got, cache)
		}
	}
	for _, line := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(ui.Policy, line) {
			t.Errorf("the policy has no %s", line)
		}
	}
	if strings.Contains(ui.Policy, "unsafe") {
		t.Error("the policy lets inline code run")
	}
}

// A browser that has index.html asks whether it is still the same.
func TestRevalidation(t *testing.T) {
	t.Parallel()
	tag := get("GET", "/").Header().Get("ETag")
	if w := get("GET", "/", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("ETag %q: %d with %d bytes, want 304 without a body", tag, w.Code, w.Body.Len())
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/nothing", 404},
		{"GET", "/assets", 404},
		{"GET", "/assets/", 404},
		{"GET", "/../ui.go", 404},
		{"GET", "/./index.html", 404},
		{"POST", "/", 405},
		{"DELETE", "/index.html", 405},
		{"HEAD", "/", 200},
	} {
		w := get(row.method, "http://localhost"+row.path)
		if w.Code != row.status || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s: %d, want %d with a policy", row.method, row.path, w.Code, row.status)
		}
		if row.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("HEAD has a body")
		}
	}
}

// index.html asks for nothing that is not there, nothing of another server, and runs
// nothing inline: the policy would refuse it.
func TestIndex(t *testing.T) {
	t.Parallel()
	page := get("GET", "/").Body.String()
	for _, m := range regexp.MustCompile(`(?i)(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(m[1], "data:") {
			continue
		}
		path, ok := strings.CutPrefix(m[1], "./")
		if !ok {
			path, ok = strings.CutPrefix(m[1], "/admin/redeliver/ui/")
		}
		if w := get("GET", "/"+path); !ok || w.Code != 200 {
			t.Errorf("index.html asks for %q: %d", m[1], w.Code)
		}
	}
	for _, inline := range []string{`<style`, ` style="`, ` onload=`, ` onclick=`} {
		if strings.Contains(page, inline) {
			t.Errorf("index.html has %q", inline)
		}
	}
	for _, m := range regexp.MustCompile(`(?i)<script[^>]*>`).FindAllString(page, -1) {
		if !strings.Contains(m, "src=") {
			t.Errorf("index.html has an inline script: %s", m)
		}
	}
}

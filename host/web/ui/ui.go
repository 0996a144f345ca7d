// Package ui is the page of a running host: the built files of app, embedded, and the
// handler that serves them. The page shows what the control API says, and knows nothing
// else; package web serves it below the API, behind the guard of the API.
//
// The files are public: they hold no state of a host and no secret. dist is the output of
// "make ui", and is committed, so that a build of Go needs no Node.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed all:dist
var embedded embed.FS

// Policy is the Content-Security-Policy of the page: its own scripts and styles, its own
// host, and no other page around it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are the types of files, by their extensions: those of the operating system may
// be others, and a browser runs no script of another type.
var types = map[string]string{ // read only
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8", ".map": "application/json",
}

// Files are the built files of the page, index.html and what it asks for.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil { // the folder is embedded
		panic(err)
	}
	return files
}

// Handler serves Files by their paths, and index.html as "/".
func Handler() http.Handler { return handler{Files()} }

type handler struct{ files fs.FS }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", Policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	text, err := fs.ReadFile(h.files, name) // refuses what leads elsewhere
	if err != nil {
		http.Error(w, "the page has no such file", http.StatusNotFound)
		return
	}
	header.Set("Content-Type", typeOf(name))
	if strings.HasPrefix(name, "assets/") { // whose names change with what they hold
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		sum := sha256.Sum256(text)
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// typeOf is the type of a file by its name.
func typeOf(name string) string {
	if t, ok := types[path.Ext(name)]; ok {
		return t
	}
	return "application/octet-stream"
}

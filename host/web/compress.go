package web

import (
	"cmp"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"

	"github.com/redeliver/redeliver/host/ops"
)

// compressionFlag among AzureWebJobsFeatureFlags has answers compressed for callers who
// accept that (spec drift-2026 C-20).
const compressionFlag = "EnableResponseCompression"

// compressing returns the answer that compresses w for a caller who accepts it, where the
// app asks for that, and what ends it. The rules are those of the middleware that the
// platform's host uses (ASP.NET Core: ResponseCompressionProvider.cs): some types of
// content only, the caller's favourite coding, and Brotli before gzip.
// The control API is not part of the platform, and is left alone.
func (s *Server) compressing(w http.ResponseWriter, r *http.Request) (_ http.ResponseWriter, end func()) {
	accepted := r.Header.Values("Accept-Encoding")
	a := s.host.App()
	if a == nil || len(accepted) == 0 || r.Method == http.MethodHead ||
		strings.HasPrefix(strings.ToLower(r.URL.Path), ops.Prefix) || !hasFlag(a.Settings.Get("AzureWebJobsFeatureFlags"), compressionFlag) {
		return w, func() {}
	}
	c := &compressed{ResponseWriter: w, coding: codingFor(strings.Join(accepted, ","))}
	return c, c.end
}

// hasFlag reports whether a flag is in a list of them, in any case (host: FeatureFlags.cs).
func hasFlag(list, flag string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(f string) bool { return strings.EqualFold(f, flag) })
}

// codings are the content codings of the middleware, in its order.
var codings = []string{"br", "gzip"} // read only

// codingFor is the coding that a caller with this Accept-Encoding likes best: the one of
// the highest quality, the first of codings among equals. It is empty when that is none.
func codingFor(accepted string) string {
	quality := map[string]float64{}
	for part := range strings.SplitSeq(strings.ToLower(accepted), ",") {
		name, parameters, err := mime.ParseMediaType("x/" + strings.TrimSpace(part))
		q := 1.0
		if text, ok := parameters["q"]; ok && err == nil {
			q, err = strconv.ParseFloat(text, 64)
		}
		if err == nil {
			quality[strings.TrimPrefix(name, "x/")] = q
		}
	}
	of := func(coding string) float64 {
		if q, named := quality[coding]; named {
			return q
		}
		return quality["*"]
	}
	best := slices.MaxFunc(codings, func(a, b string) int { return cmp.Compare(of(a), of(b)) }) // the first of the greatest
	if q := of(best); q <= 0 || quality["identity"] > q {
		return ""
	}
	return best
}

// compressible are the types of content that the middleware compresses.
var compressible = []string{ // read only
	"text/plain", "text/css", "application/javascript", "text/javascript", "text/html", "application/xml",
	"text/xml", "application/json", "text/json", "application/wasm",
}

// compressed is an answer that is compressed from its first byte on. The head waits for
// that byte, or for a flush, since an answer without a body keeps its head.
type compressed struct {
	http.ResponseWriter
	coding  string
	status  int // 0: none is said yet
	begun   bool
	encoder interface {
		io.WriteCloser
		Flush() error
	} // nil: the answer goes as it is
}

// Unwrap lets [http.ResponseController] find what is below.
func (c *compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (c *compressed) WriteHeader(status int) {
	switch {
	case status < 200 || c.begun:
		c.ResponseWriter.WriteHeader(status)
	case c.status == 0:
		c.status = status
	}
}

// Write implements [http.ResponseWriter].
func (c *compressed) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.begin()
	if c.encoder != nil {
		return c.encoder.Write(p)
	}
	return c.ResponseWriter.Write(p)
}

// FlushError sends what was written so far; see [http.ResponseController].
func (c *compressed) FlushError() error {
	c.begin()
	if c.encoder != nil {
		if err := c.encoder.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// begin decides whether the answer is compressed, and sends its head.
func (c *compressed) begin() {
	if c.begun {
		return
	}
	c.begun = true
	if h := c.Header(); c.status != http.StatusNoContent && c.status != http.StatusNotModified && mayCompress(h) {
		if !variesByCoding(h) {
			h.Add("Vary", "Accept-Encoding")
		}
		if c.coding != "" {
			h.Set("Content-Encoding", c.coding)
			h.Del("Content-MD5")
			h.Del("Content-Length")
		}
		switch c.coding {
		case "br":
			c.encoder = brotli.NewWriterLevel(c.ResponseWriter, brotli.BestSpeed)
		case "gzip":
			c.encoder, _ = gzip.NewWriterLevel(c.ResponseWriter, gzip.BestSpeed) // the level is one
		}
	}
	if c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
	}
}

// end sends what is left of the answer.
func (c *compressed) end() {
	if c.encoder != nil {
		_ = c.encoder.Close() // a caller that has gone needs no answer
	} else if !c.begun && c.status != 0 {
		c.ResponseWriter.WriteHeader(c.status)
	}
}

// mayCompress reports whether an answer with this head is one of those to compress.
func mayCompress(h http.Header) bool {
	if h.Get("Content-Range") != "" || h.Get("Content-Encoding") != "" {
		return false
	}
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return slices.Contains(compressible, strings.ToLower(strings.TrimSpace(kind)))
}

func variesByCoding(h http.Header) bool {
	for _, line := range h.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(name), "Accept-Encoding") {
				return true
			}
		}
	}
	return false
}

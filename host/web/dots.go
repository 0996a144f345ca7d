package web

import (
	"net/http"
	"net/url"
	"strings"
)

// withoutDots returns the request with "." and ".." taken out of its path, escaped ones
// too, as the platform's server does before it looks for a function (Kestrel:
// PathNormalizer.cs RemoveDotSegments; observed of the platform's host 4.1037).
func withoutDots(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	if !strings.Contains(escaped, "/.") && !strings.Contains(strings.ToLower(escaped), "/%2e") {
		return r
	}
	segments := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	var kept []string
	for i, s := range segments {
		text := s
		if plain, err := url.PathUnescape(s); err == nil {
			text = plain
		}
		switch last := i == len(segments)-1; {
		case text == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
			fallthrough
		case text == "." || text == "..":
			if last {
				kept = append(kept, "") // a path that ended in a dot ends in a slash
			}
		default:
			kept = append(kept, s)
		}
	}
	out, path := *r, *r.URL
	path.RawPath = "/" + strings.Join(kept, "/")
	path.Path, _ = url.PathUnescape(path.RawPath) // it was escaped
	out.URL = &path
	return &out
}

package rest

import (
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/listen"
)

// The service keeps the case of metadata names, and package net/http does not:
// it hands out every header name in one canonical form. So each connection notes
// how names that begin with x-ms-meta- were spelled (listen.Spelling).

const metaPrefix = "x-ms-meta-"

// Metadata returns what the request's x-ms-meta- headers say, with names as the
// client spelled them; nil if there are none.
func (c *Call) Metadata() (map[string]string, *Error) {
	var out map[string]string
	size := 0
	for header, values := range c.R.Header {
		if len(header) < len(metaPrefix) || !strings.EqualFold(header[:len(metaPrefix)], metaPrefix) {
			continue
		}
		name := header[len(metaPrefix):]
		if spelled, at := listen.Spelled(c.R, header); at > 0 {
			name = spelled[len(metaPrefix):]
		} else {
			name = strings.ToLower(name)
		}
		if name == "" && c.front.service.Letter == 'b' {
			return nil, NewError(http.StatusBadRequest, "EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty.")
		}
		if !isIdentifier(name) {
			return nil, NewError(http.StatusBadRequest, "InvalidMetadata",
				"The metadata specified is invalid. It has characters that are not permitted.", "MetadataName", name)
		}
		value := strings.Join(values, ",")
		if size += len(name) + len(value); size > maxMetadata {
			return nil, NewError(http.StatusBadRequest, "MetadataTooLarge", "The size of the specified metadata exceeds the maximum size permitted.")
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}

// maxMetadata is the size of all names and values together (docs: Set Queue
// Metadata, Set Blob Metadata).
const maxMetadata = 8 << 10

// isIdentifier reports whether a metadata name has letters, digits and
// underscores only, and no digit first.
func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Metadata makes metadata headers of the answer, with names as they are.
func (h headers) Metadata(metadata map[string]string) {
	for name, value := range metadata {
		h[metaPrefix+name] = []string{value}
	}
}

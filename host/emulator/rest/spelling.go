package rest

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/listen"
)

// The service keeps the case of metadata names, and package net/http does not:
// it hands out every header name in one canonical form. So each connection notes
// how names that begin with x-ms-meta- were spelled, on their way in.

const metaPrefix = "x-ms-meta-"

// Limits of a connection's memory, against clients that send ever new names.
const (
	maxSpellings = 512
	maxMetaName  = 1024
)

// withSpelling has a connection note spellings.
func withSpelling(c net.Conn) net.Conn { return &spellingConn{Conn: c} }

// spellingConn reads lines along with the server. It does not tell heads from
// bodies: a line of a body that looks like such a header is noted in vain,
// because only names that net/http found in a head are looked up.
type spellingConn struct {
	net.Conn

	line []byte // the start of the current line; read by one goroutine at a time
	skip bool   // the rest of the current line is of no interest

	mu    sync.Mutex
	names map[string]string // by lower case, as spelled last
}

func (c *spellingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note(p[:n])
	return n, err
}

func (c *spellingConn) note(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		rest := p[len(p):]
		part := p
		if end >= 0 {
			part, rest = p[:end], p[end+1:]
		}
		if !c.skip {
			c.notePart(part)
		}
		if end >= 0 {
			c.line, c.skip = c.line[:0], false
		}
		p = rest
	}
}

// notePart looks at a further part of a line that may still be a name.
func (c *spellingConn) notePart(part []byte) {
	colon := bytes.IndexByte(part, ':')
	if colon >= 0 {
		part = part[:colon]
	}
	if room := maxMetaName - len(c.line); len(part) > room {
		part, c.skip = part[:room], true
	}
	c.line = append(c.line, part...)
	n := min(len(c.line), len(metaPrefix))
	if !strings.EqualFold(string(c.line[:n]), metaPrefix[:n]) {
		c.skip = true
		return
	}
	if colon >= 0 && !c.skip {
		c.skip = true
		if name := string(c.line[n:]); name != "" {
			c.remember(name)
		}
	}
}

func (c *spellingConn) remember(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= maxSpellings {
		c.names = nil
	}
	if c.names == nil {
		c.names = map[string]string{}
	}
	c.names[strings.ToLower(name)] = name
}

// spelling returns the name as the client wrote it, or as it is.
func (c *spellingConn) spelling(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.names[strings.ToLower(name)]; ok {
		return s
	}
	return name
}

// metadata returns what the request's x-ms-meta- headers say, with names as the
// client spelled them; nil if there are none.
func (c *call) metadata() (map[string]string, *Error) {
	conn, _ := listen.Conn(c.r).(*spellingConn)
	var out map[string]string
	size := 0
	for header, values := range c.r.Header {
		if len(header) < len(metaPrefix) || !strings.EqualFold(header[:len(metaPrefix)], metaPrefix) {
			continue
		}
		name := strings.ToLower(header[len(metaPrefix):])
		if conn != nil {
			name = conn.spelling(name)
		}
		if name == "" && c.front.service.letter == 'b' {
			return nil, newError(http.StatusBadRequest, "EmptyMetadataKey", "The key for one of the metadata key-value pairs is empty.")
		}
		if !isIdentifier(name) {
			return nil, newError(http.StatusBadRequest, "InvalidMetadata",
				"The metadata specified is invalid. It has characters that are not permitted.", "MetadataName", name)
		}
		value := strings.Join(values, ",")
		if size += len(name) + len(value); size > maxMetadata {
			return nil, newError(http.StatusBadRequest, "MetadataTooLarge", "The size of the specified metadata exceeds the maximum size permitted.")
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

// setMetadata makes metadata headers of the answer, with names as they are.
func (c *call) setMetadata(metadata map[string]string) {
	h := c.w.Header()
	for name, value := range metadata {
		h[metaPrefix+name] = []string{value}
	}
}

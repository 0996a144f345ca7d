package httpcall

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
)

// knownHeaders are spelled in one way by the platform's client; names of all other headers
// are as they came.
const knownHeaders = `Accept-Patch Accept-Ranges Access-Control-Allow-Credentials Access-Control-Allow-Headers
Access-Control-Allow-Methods Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age Age Alt-Svc
Cache-Control Connection Content-Security-Policy Date ETag Keep-Alive Link Location P3P Pragma Proxy-Authenticate
Proxy-Connection Referrer-Policy Refresh Retry-After Server Set-Cookie Strict-Transport-Security TE TSV Trailer
Transfer-Encoding Upgrade Upgrade-Insecure-Requests Vary Via WWW-Authenticate Warning X-AspNet-Version X-Cache
X-Content-Type-Options X-Frame-Options X-Powered-By X-Request-ID X-UA-Compatible X-XSS-Protection`

// known has the names of knownHeaders in the form of package net/http.
var known = func() map[string]string { // read only
	out := map[string]string{}
	for name := range strings.FieldsSeq(knownHeaders) {
		out[http.CanonicalHeaderKey(name)] = name
	}
	return out
}()

// maxHead is how much of an answer's head is kept, and how long it may be.
const maxHead = 64 << 10

// line is the connections of one call. It notes how the last answer spells its headers, which
// package net/http does not tell.
type line struct {
	mu   sync.Mutex
	last *conn // that was written to last
}

func (l *line) transport() *http.Transport {
	plain := func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	noted := func(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c, line: l}, nil
		}
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: noted(plain), DialTLSContext: noted((&tls.Dialer{}).DialContext),
		DisableCompression: true, MaxResponseHeaderBytes: maxHead,
	}
}

// conn keeps the head of the answer to what was written last.
type conn struct {
	net.Conn
	line *line
	head []byte // guarded by the line's mutex
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	c.line.mu.Lock()
	c.head, c.line.last = c.head[:0], c
	c.line.mu.Unlock()
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.line.mu.Lock()
	c.head = append(c.head, b[:min(n, maxHead-len(c.head))]...)
	c.line.mu.Unlock()
	return n, err
}

// spelling is how the headers of the last answer are spelled, by their names in the form of
// package net/http.
func (l *line) spelling() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{}
	if l.last == nil {
		return out
	}
	head, rest, _ := bytes.Cut(l.last.head, []byte("\r\n\r\n"))
	for bytes.HasPrefix(head, []byte("HTTP/1.1 1")) { // Continue, and its like
		head, rest, _ = bytes.Cut(rest, []byte("\r\n\r\n"))
	}
	for text := range bytes.SplitSeq(head, []byte("\r\n")) {
		if name, _, found := bytes.Cut(text, []byte(":")); found {
			out[http.CanonicalHeaderKey(string(name))] = string(name)
		}
	}
	for name, spelled := range known {
		out[name] = spelled
	}
	return out
}

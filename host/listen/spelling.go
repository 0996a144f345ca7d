package listen

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Limits of a connection's memory, against clients that send ever new names.
const (
	maxSpellings = 512
	maxName      = 1024
)

// Spelling is a Wrap of a Server: its connections note how names of headers that begin
// with a prefix in lower case were spelled, on their way in. Package net/http hands out
// every name in one form.
func Spelling(prefix string) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn { return &spellingConn{Conn: c, prefix: prefix} }
}

// Spelled is the name of a header of a request as the client wrote it first, and its number
// among them, from 1. A name that the connection has not noted is as it is, with 0.
func Spelled(r *http.Request, name string) (spelled string, at int) {
	c, noting := Conn(r).(*spellingConn)
	if !noting {
		return name, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.names[strings.ToLower(name)]; ok {
		return s.name, s.at
	}
	return name, 0
}

// spellingConn reads the lines of a head along with the server, which says when the next
// head may come. Names of a request that is sent before the answer to the one before it are
// not noted.
type spellingConn struct {
	net.Conn
	prefix string

	mu    sync.Mutex
	names map[string]spelling // of the head, by lower case, as spelled first
	line  []byte              // the start of the current line
	skip  bool                // the rest of the current line is of no interest
	over  bool                // the head has ended
}

type spelling struct {
	name string
	at   int
}

// NetConn returns the connection below.
func (c *spellingConn) NetConn() net.Conn { return c.Conn }

func (c *spellingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteLocked(p[:n])
	return n, err
}

// next says that the next head may come.
func (c *spellingConn) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.line, c.skip, c.over = nil, c.line[:0], false, false
}

func (c *spellingConn) noteLocked(p []byte) {
	for len(p) > 0 && !c.over {
		end := bytes.IndexByte(p, '\n')
		rest := p[len(p):]
		part := p
		if end >= 0 {
			part, rest = p[:end], p[end+1:]
		}
		if !c.skip {
			c.partLocked(part)
		}
		if end >= 0 {
			c.over = !c.skip && len(bytes.TrimSpace(c.line)) == 0
			c.line, c.skip = c.line[:0], false
		}
		p = rest
	}
}

// partLocked looks at a further part of a line that may still be a name.
func (c *spellingConn) partLocked(part []byte) {
	colon := bytes.IndexByte(part, ':')
	if colon >= 0 {
		part = part[:colon]
	}
	if room := maxName - len(c.line); len(part) > room {
		part, c.skip = part[:room], true
	}
	c.line = append(c.line, part...)
	n := min(len(c.line), len(c.prefix))
	if !strings.EqualFold(string(c.line[:n]), c.prefix[:n]) || bytes.ContainsAny(c.line, " \"\t") { // no name has these
		c.skip = true
		return
	}
	if colon >= 0 && !c.skip {
		c.skip = true
		if len(c.line) > n {
			c.rememberLocked(string(c.line))
		}
	}
}

func (c *spellingConn) rememberLocked(name string) {
	if c.names == nil {
		c.names = map[string]spelling{}
	}
	lower := strings.ToLower(name)
	if _, twice := c.names[lower]; !twice && len(c.names) < maxSpellings {
		c.names[lower] = spelling{name, len(c.names) + 1}
	}
}

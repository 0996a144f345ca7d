package bus

import (
	"fmt"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// claims are the audiences for which connections have put tokens. They outlive the
// links on which they came: Go clients close those at once.
type claims struct {
	mu sync.Mutex
	by map[string]map[string]bool // connection, path in lower case
}

func (c *claims) put(connection, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]map[string]bool{}
	}
	if c.by[connection] == nil {
		c.by[connection] = map[string]bool{}
	}
	c.by[connection][strings.ToLower(path)] = true
}

// has reports whether there is a claim for the path or for something above it.
func (c *claims) has(connection, path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := c.by[connection]
	for path = strings.ToLower(path); ; {
		if mine[path] {
			return true
		}
		if path == "" {
			return false
		}
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
}

func (c *claims) forget(connection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, connection)
}

// cbs is the node $cbs: claims-based security.
type cbs struct {
	b          *Backend
	connection string
}

func (*cbs) Close(bool) {}

// Respond implements amqp.Responder.
func (c *cbs) Respond(q *wire.Message, _ int) *wire.Message {
	code, text := c.claim(q)
	return &wire.Message{
		ApplicationProperties: wire.Map{
			{Key: "status-code", Value: int32(code)},
			{Key: "status-description", Value: text},
		},
		Body: wire.AppendValue(nil, nil),
	}
}

func (c *cbs) claim(q *wire.Message) (code int, text string) {
	text1 := func(key string) string {
		s, _ := q.ApplicationProperties.Get(key).(string)
		return s
	}
	if op := text1("operation"); op != "put-token" {
		return 400, fmt.Sprintf("operation %q: only put-token is offered", op)
	}
	v, _, err := q.Value()
	token, ok := v.(string)
	if err != nil || !ok {
		return 400, "the body is no string"
	}
	name, kind := text1("name"), text1("type")
	if name == "" {
		return 400, "no name says what the token is for"
	}
	if c.b.opts.CheckToken != nil {
		if err := c.b.opts.CheckToken(name, kind, token); err != nil {
			return 401, err.Error()
		}
	}
	c.b.claims.put(c.connection, trimAddress(name))
	return 202, "Accepted"
}

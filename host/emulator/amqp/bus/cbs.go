package bus

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// claims are the audiences for which connections have put tokens. They outlive the
// links on which they came: Go clients close those at once.
type claims struct {
	mu sync.Mutex
	by map[string]map[string]rights // connection, path in lower case
}

func (c *claims) put(connection, path string, may rights) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]map[string]rights{}
	}
	if c.by[connection] == nil {
		c.by[connection] = map[string]rights{}
	}
	c.by[connection][strings.ToLower(path)] = may
}

// get returns what the claim for the path allows, or that for the nearest above it.
func (c *claims) get(connection, path string) (may rights, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := c.by[connection]
	for path = strings.ToLower(path); ; {
		if may, ok := mine[path]; ok {
			return may, true
		}
		if path == "" {
			return nil, false
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
	elsewhere  func(address string) (bool, error)
}

func (*cbs) Close(bool) {}

// Respond implements amqp.Responder.
func (c *cbs) Respond(q *wire.Message, _ int, _ []byte) *wire.Message {
	code, text := c.claim(q)
	// Status and text are all that the specification of claims has: with an error condition
	// beside them the client for Python tells its user neither.
	return &wire.Message{
		ApplicationProperties: wire.Map{{Key: "status-code", Value: int32(code)}, {Key: "status-description", Value: text}},
		Body:                  wire.AppendValue(nil, nil),
	}
}

func (c *cbs) claim(q *wire.Message) (code int, text string) {
	text1 := func(key string) string {
		s, _ := q.ApplicationProperties.Get(key).(string)
		return s
	}
	if op := text1("operation"); op != "put-token" {
		return 400, fmt.Sprintf("operation %.60q: only put-token is offered", op)
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
	address := trimAddress(name)
	if err := c.find(address); err != nil {
		e := messaging.ErrorOf(err)
		return e.Status, e.ClientText()
	}
	may, err := c.b.rightsOf(address, token)
	if err != nil {
		return 401, err.Error()
	}
	c.b.claims.put(c.connection, address, may)
	return 202, "Accepted"
}

// find fails if a claim is for an entity that is not there. Clients put one before they
// attach, and take the answer for the service's word on the entity.
func (c *cbs) find(address string) error {
	if address == "" || strings.EqualFold(address, "$management") {
		return nil // the namespace
	}
	if c.elsewhere != nil {
		if mine, err := c.elsewhere(address); mine || err != nil {
			return err
		}
	}
	path, _, err := parseAddress(address)
	if err != nil {
		return err
	}
	err = c.b.inside("claim", func() error { return c.b.exists(path) })
	if errors.Is(err, bindings.ErrNotFound) {
		return messaging.NewEntityNotFound(path.String())
	}
	return err
}

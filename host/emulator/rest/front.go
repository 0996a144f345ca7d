package rest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen"
)

const (
	secondarySuffix = "-secondary"

	// fallbackVersion is reported to clients that name no version.
	fallbackVersion = "2025-11-05"

	// lingering is how much of a refused body is still read, so that a client
	// that is writing gets to see the answer.
	lingering = 8 << 20
)

// service is the part of the server that belongs to one service.
type service struct {
	name   string // "queue": also in host names and in signatures
	letter byte   // in the ss field of account signatures

	// route finds the operation that a call asks for and checks names.
	route func(c *call) (*operation, *Error)

	// properties returns the service's settings, for CORS.
	properties func(ctx context.Context, a *account) (storage.ServiceProperties, error)

	// serviceSAS returns the string that a service signature signs, and policy
	// the stored access policy it may name. Called where there is a resource.
	// sasKind refuses a kind of resource that does not go with the address;
	// nil if there is one kind only.
	serviceSAS func(c *call) string
	sasKind    func(c *call) *Error
	policy     func(ctx context.Context, c *call, id string) (*storage.AccessPolicy, error)
}

// operation is one row of a service's table. Letters give the rights that a
// signature must have; any one of them is enough. Without letters such a signature
// is never good for this operation.
type operation struct {
	name       string
	write      bool   // not on the secondary
	resource   string // srt: s, c, o
	byToken    bool   // by a bearer token only
	accountSAS string // sp of an account signature
	serviceSAS string // sp of a service signature

	// public is the level of public access from which on everybody may do this;
	// empty: nobody.
	public blob.PublicAccess

	run func(c *call) error
}

// front serves one service on one port.
type front struct {
	clk     clock.Clock
	pins    *clock.Pins
	server  *Server
	service *service
	port    int
	http    *listen.Server
	addr    string // where it listens; empty: nowhere

	idPrefix uint64 // of request ids
	requests atomic.Uint64

	buffers sync.Pool // of *[sendBuffer]byte
}

func newFront(clk clock.Clock, s *Server, sv *service, port int) *front {
	var b [8]byte
	rand.Read(b[:])
	d := &front{clk: clk, pins: clock.NewPins(clk), server: s, service: sv, port: port, idPrefix: binary.BigEndian.Uint64(b[:])}
	d.http = &listen.Server{Handler: d, TLS: s.opts.TLS, Wrap: listen.Spelling(metaPrefix), Context: clock.ForVisitor, Component: sv.name + " rest", Logger: s.opts.Logger}
	return d
}

func (d *front) scheme() string {
	if d.server.opts.TLS != nil {
		return "https"
	}
	return "http"
}

// call is one request on its way.
type call struct {
	front     *front
	w         http.ResponseWriter
	r         *http.Request
	id        string // x-ms-request-id
	account   *account
	secondary bool
	inHost    bool     // the account is in the host's name, not in the path
	path      []string // unescaped segments after the account; see split
	query     parameters
	op        *operation
	access    access
	in        *listen.Body
	crc64     []byte // of the content that was written; nil: not asked for
}

// ServeHTTP implements http.Handler.
func (d *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{front: d, w: w, r: r, in: listen.ReceiveBody(w, r)}
	defer c.in.Leave()
	n := d.requests.Add(1)
	c.id = requestID(d.idPrefix, n)
	c.commonHeaders()
	err := c.serve()
	if errors.Is(err, ErrCut) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		c.refuse(asError(err))
	}
}

// requestID writes two numbers in the form of a GUID.
func requestID(prefix, n uint64) string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], prefix)
	binary.BigEndian.PutUint64(raw[8:], n)
	var digits [32]byte
	hex.Encode(digits[:], raw[:])
	b := make([]byte, 0, 36)
	for i, end := range []int{8, 12, 16, 20, 32} {
		if i > 0 {
			b = append(b, '-')
		}
		b = append(b, digits[len(b)-i:end]...)
	}
	return string(b)
}

func (c *call) commonHeaders() {
	h := c.w.Header()
	h.Set("X-Ms-Request-Id", c.id)
	h.Set("X-Ms-Version", c.asked().version())
	if id := c.r.Header.Get("X-Ms-Client-Request-Id"); id != "" && len(id) <= 1024 {
		h.Set("X-Ms-Client-Request-Id", id)
	}
	h.Set("Date", c.front.clk.Now().UTC().Format(http.TimeFormat))
	h.Set("Server", "Redeliver-"+c.front.service.name)
}

// serve is the way of one request. An error is still to be answered.
func (c *call) serve() error {
	if err := c.guard().CheckHost(c.r); err != nil {
		return notTaken(err)
	}
	if err := c.locate(); err != nil {
		return err
	}
	if c.r.Method == http.MethodOptions {
		return c.preflight()
	}
	if err := c.admitPage(); err != nil {
		return err
	}
	if refused := c.admit(); refused != nil {
		return refused
	}
	return c.op.run(c)
}

// admit finds the operation and lets the caller through to it, or says why not.
func (c *call) admit() (refused *Error) {
	if c.op, refused = c.front.service.route(c); refused != nil {
		return refused
	}
	if c.access, refused = authorize(c); refused != nil {
		return refused
	}
	if c.op.write && c.secondary {
		return newError(http.StatusForbidden, "InsufficientAccountPermissions", "Write operations are not allowed.")
	}
	return nil
}

// locate finds the account and takes the address apart.
func (c *call) locate() error {
	query, err := parseQuery(c.r.URL.RawQuery)
	if err != nil {
		return newError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.", "Reason", err.Error())
	}
	c.query = parameters{lowerNames(query)}

	segments := strings.Split(strings.TrimPrefix(c.r.URL.EscapedPath(), "/"), "/")
	if a, secondary := c.front.accountInHost(c.r.Host); a != nil {
		c.account, c.secondary, c.inHost = a, secondary, true
	} else {
		name, secondary := strings.CutSuffix(segments[0], secondarySuffix)
		a := c.front.server.accounts[name]
		if a == nil {
			return errResourceNotFound()
		}
		c.account, c.secondary = a, secondary
		segments = segments[1:]
	}
	for len(segments) > 0 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	for _, s := range segments {
		unescaped, err := url.PathUnescape(s)
		if err != nil {
			return newError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
		}
		c.path = append(c.path, unescaped)
	}
	return nil
}

// lowerNames is a query whose names are in lower case: they have none.
func lowerNames(query url.Values) url.Values {
	out := make(url.Values, len(query))
	for name, values := range query {
		lower := strings.ToLower(name)
		out[lower] = append(out[lower], values...)
	}
	return out
}

// parseQuery is url.ParseQuery for clients that do not escape semicolons.
func parseQuery(raw string) (url.Values, error) {
	return url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
}

// accountInHost returns the account that a host such as
// devstoreaccount1.queue.localhost:10001 names; nil if it names none that is
// served.
func (d *front) accountInHost(host string) (a *account, secondary bool) {
	first, _, dotted := strings.Cut(host, ".")
	if !dotted {
		return nil, false
	}
	name, secondary := strings.CutSuffix(strings.ToLower(first), secondarySuffix)
	return d.server.accounts[name], secondary
}

// inside runs f in the clock, after everything was read that the request has to
// say. The context lives on when the client hangs up: what was asked is done.
func (c *call) inside(f func(ctx context.Context) error) (err error) {
	ctx := context.WithoutCancel(c.r.Context())
	c.enter(c.front.service.name+" REST "+c.op.label(), func() { err = f(ctx) })
	return err
}

// enter is the clock's Inside for the goroutine that serves the connection.
func (c *call) enter(name string, f func()) { clock.Enter(c.r.Context(), c.front.clk, name, f) }

func (op *operation) label() string {
	if op == nil {
		return "request"
	}
	return op.name
}

// body reads a small body, of at most limit bytes.
func (c *call) body(limit int64) ([]byte, error) {
	b, err := c.in.Small(limit)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.in.Skip(lingering)
		return nil, errBodyTooLarge(limit)
	}
	if err != nil {
		return nil, newError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", "the body ended early: "+err.Error())
	}
	return b, nil
}

// answer writes a success. A nil body is empty; any other is XML.
func (c *call) answer(status int, body []byte) error {
	h := c.w.Header()
	if body != nil {
		h.Set("Content-Type", "application/xml")
	}
	if status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		c.w.Write(body) // the client has gone
	}
	return nil
}

// refuse writes an error.
func (c *call) refuse(e *Error) {
	h := c.w.Header()
	for name, values := range e.Header {
		h[name] = values
	}
	h.Set("X-Ms-Error-Code", e.Code)
	if c.r.Method == http.MethodHead || e.Status == http.StatusNotModified {
		c.w.WriteHeader(e.Status)
		return
	}
	c.answer(e.Status, e.document(c.id, c.front.clk.Now()))
}

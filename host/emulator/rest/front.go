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
	"time"

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

// front serves one service on one port.
type front struct {
	clk     clock.Clock
	pins    *clock.Pins
	server  *Server
	service *Service
	port    int
	http    *listen.Server
	addr    string // where it listens; empty: nowhere

	idPrefix uint64 // of request ids
	requests atomic.Uint64

	buffers sync.Pool // of *[sendBuffer]byte
}

func newFront(clk clock.Clock, s *Server, sv *Service, port int) *front {
	var b [8]byte
	rand.Read(b[:])
	d := &front{clk: clk, pins: clock.NewPins(clk), server: s, service: sv, port: port, idPrefix: binary.BigEndian.Uint64(b[:])}
	d.http = &listen.Server{Handler: d, TLS: s.opts.TLS, Wrap: listen.Spelling(metaPrefix), Context: clock.ForVisitor, Component: sv.Name + " rest", Logger: s.opts.Logger}
	return d
}

func (d *front) scheme() string {
	if d.server.opts.TLS != nil {
		return "https"
	}
	return "http"
}

// Call is one request on its way.
type Call struct {
	front     *front
	W         http.ResponseWriter
	R         *http.Request
	id        string // x-ms-request-id
	Account   *Stored
	secondary bool
	inHost    bool     // the account is in the host's name, not in the path
	Path      []string // unescaped segments after the account; see split
	Query     Parameters
	op        *Operation
	access    access
	in        *listen.Body
	crc64     []byte // of the content that was written; nil: not asked for

	Own any // what the service has found out about the call, by its Route
}

// ID identifies the request, in the form of a GUID.
func (c *Call) ID() string { return c.id }

// Now is the time of the clock, in UTC.
func (c *Call) Now() time.Time { return c.front.clk.Now().UTC() }

// present is the Now of a call after time has followed the wall up to here: of a host in which nothing is
// due it stands still between calls. What a client says of the time is compared with it.
func present(c *Call) (now time.Time) {
	clock.Enter(c.R.Context(), c.front.clk, "what time it is", func() { now = c.Now() })
	return now
}

// Operation is what the call asks for, once Route has found it.
func (c *Call) Operation() *Operation { return c.op }

// Letters are the rights of the signature that lets the call in, and nil for a caller who
// may do everything.
func (c *Call) Letters() *string { return c.access.letters }

// Base is the address of the account as the caller knows it, without a slash at its end.
func (c *Call) Base() string {
	base := c.front.scheme() + "://" + c.R.Host
	if c.inHost {
		return base
	}
	base += "/" + c.Account.Name
	if c.secondary {
		base += secondarySuffix
	}
	return base
}

// EscapedPath is the path behind the account, without slashes at its ends.
func (c *Call) EscapedPath() string {
	path := strings.TrimPrefix(c.R.URL.EscapedPath(), "/")
	if !c.inHost {
		_, path, _ = strings.Cut(path, "/")
	}
	return strings.Trim(path, "/")
}

// OwnPath takes the account from the front of a path of another address of this service, if
// it has it.
func (c *Call) OwnPath(path string) string {
	first, rest, more := strings.Cut(path, "/")
	if more && strings.TrimSuffix(first, secondarySuffix) == c.Account.Name {
		path = rest
	}
	return strings.TrimSuffix(path, "/")
}

// WarnOnce tells once of what a request asks for and does not get.
func (c *Call) WarnOnce(what, text string) {
	if _, told := c.front.server.ignored.LoadOrStore(what, true); !told {
		c.front.server.opts.Logger.Warn().Str("component", c.front.service.Name+" rest").Msg(text)
	}
}

// ServeHTTP implements http.Handler.
func (d *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{front: d, W: w, R: r, in: listen.ReceiveBody(w, r)}
	defer c.in.Leave()
	n := d.requests.Add(1)
	c.id = requestID(d.idPrefix, n)
	c.commonHeaders()
	err := c.serve()
	if errors.Is(err, ErrCut) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		c.refuse(c.failure(err))
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

func (c *Call) commonHeaders() {
	h := c.W.Header()
	h.Set("X-Ms-Request-Id", c.id)
	h.Set("X-Ms-Version", c.asked().version())
	if id := c.R.Header.Get("X-Ms-Client-Request-Id"); id != "" && len(id) <= 1024 {
		h.Set("X-Ms-Client-Request-Id", id)
	}
	h.Set("Date", c.front.clk.Now().UTC().Format(http.TimeFormat))
	h.Set("Server", "Redeliver-"+c.front.service.Name)
}

// serve is the way of one request. An error is still to be answered.
func (c *Call) serve() error {
	if err := c.guard().CheckHost(c.R); err != nil {
		return notTaken(err)
	}
	if err := c.locate(); err != nil {
		return err
	}
	if c.R.Method == http.MethodOptions {
		return c.preflight()
	}
	if err := c.admitPage(); err != nil {
		return err
	}
	if refused := c.admit(); refused != nil {
		return refused
	}
	return c.op.Run(c)
}

// admit finds the operation and lets the caller through to it, or says why not.
func (c *Call) admit() (refused *Error) {
	if c.op, refused = c.front.service.Route(c); refused != nil {
		return refused
	}
	if c.access, refused = authorize(c); refused != nil {
		return refused
	}
	if c.op.Write && c.secondary {
		return NewError(http.StatusForbidden, "InsufficientAccountPermissions", "Write operations are not allowed.")
	}
	return nil
}

// locate finds the account and takes the address apart.
func (c *Call) locate() error {
	query, err := parseQuery(c.R.URL.RawQuery)
	if err != nil {
		return NewError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.", "Reason", err.Error())
	}
	c.Query = Parameters{lowerNames(query)}

	segments := strings.Split(strings.TrimPrefix(c.R.URL.EscapedPath(), "/"), "/")
	if a, secondary := c.front.accountInHost(c.R.Host); a != nil {
		c.Account, c.secondary, c.inHost = a, secondary, true
	} else {
		name, secondary := strings.CutSuffix(segments[0], secondarySuffix)
		a := c.front.server.accounts[name]
		if a == nil {
			return ErrResourceNotFound()
		}
		c.Account, c.secondary = a, secondary
		segments = segments[1:]
	}
	for len(segments) > 0 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	for _, s := range segments {
		unescaped, err := url.PathUnescape(s)
		if err != nil {
			return NewError(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
		}
		c.Path = append(c.Path, unescaped)
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
func (d *front) accountInHost(host string) (a *Stored, secondary bool) {
	first, _, dotted := strings.Cut(host, ".")
	if !dotted {
		return nil, false
	}
	name, secondary := strings.CutSuffix(strings.ToLower(first), secondarySuffix)
	return d.server.accounts[name], secondary
}

// Inside runs f in the clock, after everything was read that the request has to
// say. The context lives on when the client hangs up: what was asked is done.
func (c *Call) Inside(f func(ctx context.Context) error) (err error) {
	ctx := context.WithoutCancel(c.R.Context())
	c.enter(c.front.service.Name+" REST "+c.op.label(), func() { err = f(ctx) })
	return err
}

// enter is the clock's Inside for the goroutine that serves the connection.
func (c *Call) enter(name string, f func()) { clock.Enter(c.R.Context(), c.front.clk, name, f) }

// Body reads a small body, of at most limit bytes.
func (c *Call) Body(limit int64) ([]byte, error) {
	b, err := c.in.Small(limit)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.in.Skip(lingering)
		return nil, ErrBodyTooLarge(limit)
	}
	if err != nil {
		return nil, NewError(http.StatusBadRequest, "InvalidInput", "One of the request inputs is not valid.", "Reason", "the body ended early: "+err.Error())
	}
	return b, nil
}

// Answer writes a success. A nil body is empty; any other is XML.
func (c *Call) Answer(status int, body []byte) error {
	return c.AnswerAs(status, "application/xml", body)
}

// AnswerAs is Answer for a body of another type.
func (c *Call) AnswerAs(status int, contentType string, body []byte) error {
	h := c.W.Header()
	if body != nil {
		h.Set("Content-Type", contentType)
	}
	if status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.W.WriteHeader(status)
	if c.R.Method != http.MethodHead {
		c.W.Write(body) // the client has gone
	}
	return nil
}

// refuse writes an error.
func (c *Call) refuse(e *Error) {
	h := c.W.Header()
	for name, values := range e.Header {
		h[name] = values
	}
	h.Set("X-Ms-Error-Code", e.Code)
	if c.R.Method == http.MethodHead || e.Status == http.StatusNotModified {
		c.W.WriteHeader(e.Status)
		return
	}
	if document := c.front.service.Document; document != nil {
		contentType, body := document(c, e)
		c.AnswerAs(e.Status, contentType, body)
		return
	}
	c.Answer(e.Status, e.document(c.id, c.front.clk.Now()))
}

// NoContent runs f in the clock and answers 204.
func (c *Call) NoContent(f func(ctx context.Context) error) error {
	if err := c.Inside(f); err != nil {
		return err
	}
	return c.Answer(http.StatusNoContent, nil)
}

// Pins hold the time while a client works on what it has taken.
func (c *Call) Pins() *clock.Pins { return c.front.pins }

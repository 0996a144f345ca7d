package atom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/listen"
)

const (
	// DefaultNamespace is the name of the official emulator's only namespace.
	DefaultNamespace = "sbemulatorns"

	// maxBody is the longest body that is read. The service gives no number; its
	// longest description, a rule with expressions and parameters, is far below.
	maxBody = 1 << 20

	// lingering is how much of a refused body is still read, so that a client that
	// is writing gets to see the answer.
	lingering = 8 << 20

	// fallbackVersion stands in links when the client named no api-version.
	fallbackVersion = "2021-05"
)

// Options changes how a handler behaves. The zero value is good for use.
type Options struct {
	// Namespace is the name that the namespace tells of itself; empty for
	// DefaultNamespace.
	Namespace string

	// Keys are the shared access keys by the names of their policies. Without any,
	// the handler is in development mode: it accepts any token, and requests without
	// one. But a token that names an authorization rule of an entity must be signed
	// by that rule, have Manage, and be valid by the clock and in real time. With
	// keys, requests need a signature made with one of them, or over TLS a bearer
	// token, which is believed.
	Keys map[string]string

	// StrictDates refuses signatures that have expired by the clock. By default any
	// date will do: a virtual clock may be years away.
	StrictDates bool

	// Health says what is wrong for GET /health. Nil, or no error: nothing.
	Health func() error
}

// Handler serves the administration of one namespace. It may be served over HTTP
// and HTTPS at once.
type Handler struct {
	clk     clock.Clock
	admin   servicebus.Admin
	opts    Options
	created time.Time

	requests atomic.Uint64
}

// New returns what serves admin. Requests enter clk by its Inside. Nil options are
// the zero ones.
func New(clk clock.Clock, admin servicebus.Admin, opts *Options) *Handler {
	h := &Handler{clk: clk, admin: admin, created: clk.Now().UTC()}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Namespace == "" {
		h.opts.Namespace = DefaultNamespace
	}
	return h
}

// call is one request on its way.
type call struct {
	*Handler
	w      http.ResponseWriter
	r      *http.Request
	target target
	update bool // PUT with If-Match
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Handler: h, w: w, r: r}
	w.Header().Set("Server", "Redeliver-ServiceBus")
	w.Header().Set("Date", h.clk.Now().UTC().Format(http.TimeFormat))
	err := c.serve()
	if errors.Is(err, rest.ErrCut) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		c.refuse(err)
	}
}

// serve is the way of one request. An error is still to be answered.
func (c *call) serve() error {
	if c.isHealth() {
		return c.health()
	}
	if err := c.authorize(); err != nil {
		return err
	}
	t, err := parseTarget(c.r.URL.Path)
	if err != nil {
		if c.r.Method == http.MethodGet {
			return c.publiclyListed()
		}
		return err
	}
	c.target = t
	if err := c.authorizeByRule(); err != nil {
		return err
	}
	op := t.operations()
	if op == nil {
		return fail(http.StatusNotFound, "the resource %q is not served here", c.r.URL.Path)
	}
	run := op[c.r.Method]
	if run == nil {
		c.w.Header().Set("Allow", op.allowed())
		return fail(http.StatusMethodNotAllowed, "the method %s is not offered here", c.r.Method)
	}
	c.update = c.r.Header.Get("If-Match") != ""
	return run(c)
}

// inside runs f in the clock, after everything was read that the request has to
// say. The context lives on when the client hangs up: what was asked is done.
func (c *call) inside(f func(ctx context.Context) error) (err error) {
	ctx := context.WithoutCancel(c.r.Context())
	c.clk.Inside("servicebus administration "+c.r.Method, func() { err = f(ctx) })
	return err
}

// body reads the description that the request carries: the element in the content
// of its entry.
func (c *call) body() (*element, error) {
	in := listen.ReceiveBody(c.w, c.r)
	b, err := in.Small(maxBody)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		in.Skip(lingering)
		return nil, fail(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", maxBody)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "the body ended early: %v", err)
	}
	return parseEntry(b)
}

// stored is the status that a PUT ends with.
func (c *call) stored() int {
	if c.update {
		return http.StatusOK
	}
	return http.StatusCreated
}

const (
	entryType = "application/atom+xml;type=entry;charset=utf-8"
	feedType  = "application/atom+xml;type=feed;charset=utf-8"
	errorType = "application/xml; charset=utf-8"
)

func (c *call) answer(status int, contentType string, body []byte) error {
	h := c.w.Header()
	if len(body) > 0 {
		h.Set("Content-Type", contentType)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(status)
	c.w.Write(body) // the client has gone
	return nil
}

// base is the address of the namespace as the client knows it, with a slash.
func (c *call) base() string {
	scheme := "http://"
	if c.r.TLS != nil {
		scheme = "https://"
	}
	return scheme + c.r.Host + "/"
}

// version is the api-version that links carry.
func (c *call) version() string {
	if v := c.r.URL.Query().Get("api-version"); v != "" {
		return v
	}
	return fallbackVersion
}

// refusal is an answer that is not a success.
type refusal struct {
	status  int
	detail  string
	subCode int // 0: the code of the status
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.detail) }

func fail(status int, format string, args ...any) error {
	return &refusal{status: status, detail: fmt.Sprintf(format, args...)}
}

// noTarget makes a missing target a fault of the request: an existing entity
// forwards to it.
//
// Source: azure-service-bus issue 203.
func noTarget(err error) error {
	if !errors.Is(err, bindings.ErrNotFound) {
		return err
	}
	return &refusal{
		status: http.StatusBadRequest, subCode: http.StatusNotFound * 100,
		detail: "the auto forwarding destination entity does not exist: " + messaging.ErrorOf(err).Text,
	}
}

// refuse writes an error as the service words it: clients read a sub-code in the
// detail, which is the status and two digits.
func (c *call) refuse(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		e := messaging.ErrorOf(err)
		r = &refusal{status: e.Status, detail: cmp.Or(e.Text, e.Error())}
	}
	n := c.requests.Add(1)
	detail := fmt.Sprintf("SubCode=%d. %s TrackingId:%08x-0000-0000-0000-%012x_R0, SystemTracker:%s:%s, Timestamp:%s",
		cmp.Or(r.subCode, r.status*100), sentence(r.detail), uint32(c.created.Unix()), n, c.opts.Namespace, strings.TrimPrefix(c.r.URL.Path, "/"),
		c.clk.Now().UTC().Format("2006-01-02T15:04:05"))
	if r.status == http.StatusUnauthorized {
		detail = r.detail
		c.w.Header().Set("WWW-Authenticate", `SharedAccessSignature realm="`+c.opts.Namespace+`"`)
	}
	var w writer
	w.open("Error")
	w.field("Code", strconv.Itoa(r.status))
	w.field("Detail", detail)
	w.close("Error")
	c.answer(r.status, errorType, w.b)
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

package customhandler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/proxy"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/process"
)

const (
	// pollPause is the pause between two requests to a handler that starts.
	pollPause = 25 * time.Millisecond
	// idleConnections are kept for further requests, for idleTime: less than servers
	// of common languages keep theirs, so that none is used that is about to go.
	idleConnections = 256
	idleTime        = 2 * time.Second
)

// portVariables name the port, in the environment and in arguments.
var portVariables = []string{"FUNCTIONS_CUSTOMHANDLER_PORT", "FUNCTIONS_HTTPWORKER_PORT"} // read only

// conn is the connection with one process of the handler. Its methods wait for the
// process; under the clock they are called through Outside.
type conn struct {
	spec      *Spec
	child     *process.Child
	base      string // http://127.0.0.1:port
	transport *http.Transport
	server    *proxy.Server // of proxied requests
}

// connect starts the process of that number and returns when it answers. The error is a
// *process.StartError.
func connect(ctx context.Context, spec *Spec, b *backlog, number int) (*conn, error) {
	port, err := takePort(ctx, spec.Port)
	if err != nil {
		serr := &process.StartError{Name: spec.Name, Path: spec.Path, Reason: err.Error(), Err: err}
		if spec.Port != 0 {
			serr.Hint = "end the program that has it, or leave customHandler.port out of host.json: then each start has a port of its own"
		}
		return nil, serr
	}
	own := spec.Spec
	own.Args = nil
	for _, argument := range spec.Args {
		for _, name := range portVariables {
			argument = strings.ReplaceAll(argument, "%"+name+"%", strconv.Itoa(port))
		}
		own.Args = append(own.Args, argument)
	}
	c := &conn{
		spec: spec, child: process.NewChild(ctx, own, number), base: "http://127.0.0.1:" + strconv.Itoa(port),
		transport: &http.Transport{DialContext: b.dial, DisableCompression: true, MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: idleTime},
	}
	at := &url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port)}
	c.server = proxy.New(at, "its server", idleLimit)
	more := []string{"FUNCTIONS_CUSTOMHANDLER_WORKER_ID=" + rand.Text(), "FUNCTIONS_APP_ROOT_PATH=" + spec.App}
	more = append(more, "FUNCTIONS_HTTPWORKER_ID="+strings.TrimPrefix(more[0], "FUNCTIONS_CUSTOMHANDLER_WORKER_ID="))
	for _, name := range portVariables {
		more = append(more, name+"="+strconv.Itoa(port))
	}
	if err := c.child.Start(more...); err != nil {
		return nil, c.child.Failed(err, "", "")
	}
	if reason := c.awaitReady(); reason != "" {
		return nil, c.child.Failed(nil, reason,
			"it must serve HTTP on 127.0.0.1 at the port that FUNCTIONS_CUSTOMHANDLER_PORT names in its environment")
	}
	return c, nil
}

// portPatience is how long a port may be held by what a process that has ended had
// started.
const portPatience = 2 * time.Second

// takePort is a port of the loopback that nobody listens on now: the fixed one, or any for
// 0. Whoever listens there would be taken for the handler.
func takePort(ctx context.Context, fixed int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, portPatience) //clock:outside a port of the system
	defer cancel()
	for {
		l, err := listen.Port{Number: fixed}.Open()
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().(*net.TCPAddr).Port, nil
		}
		wait := time.NewTimer(pollPause) //clock:outside a port of the system
		select {                         //clock:outside a port of the system
		case <-wait.C: //clock:outside a port of the system
		case <-ctx.Done(): //clock:outside a port of the system
			wait.Stop()
			return 0, err
		}
	}
}

// awaitReady waits until the handler gives an HTTP answer. The reason says why it did
// not.
func (c *conn) awaitReady() (reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), c.spec.StartTimeout) //clock:outside the start of a process
	defer cancel()
	poll := time.NewTicker(pollPause) //clock:outside the start of a process
	defer poll.Stop()
	for {
		err := c.pingWhileAlive(ctx)
		if c.child.Ended() {
			return "it ended before it served HTTP: " + c.child.Status()
		}
		if err == nil {
			return ""
		}
		select { //clock:outside the start of a process
		case <-c.child.Done(): //clock:outside the start of a process
		case <-ctx.Done(): //clock:outside the start of a process
			return fmt.Sprintf("it has not answered an HTTP request at %s within %v", c.base, c.spec.StartTimeout)
		case <-poll.C: //clock:outside the start of a process
		}
	}
}

// pingWhileAlive is a ping that also ends with the process.
func (c *conn) pingWhileAlive(ctx context.Context) error {
	rctx, cancel := context.WithCancel(ctx) //clock:outside the start of a process
	defer cancel()
	result := make(chan error, 1)          //clock:outside the start of a process
	go func() { result <- c.ping(rctx) }() //clock:outside ends with rctx
	select {                               //clock:outside the start of a process
	case err := <-result: //clock:outside the start of a process
		return err
	case <-c.child.Done(): //clock:outside the start of a process
		cancel()
		return <-result //clock:outside the start of a process
	}
}

// ping asks for the root. Any answer will do (spec workers 13.2).
func (c *conn) ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/", nil)
	if err != nil {
		return err
	}
	resp, err := c.transport.RoundTrip(req) // no redirects, no cookies, no proxy
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// answer is what the handler answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// name has a request name its attempt, and this host, with the letters of the platform's
// host on the wire.
func (c *conn) name(h http.Header, about *call.Request) {
	for name, value := range map[string]string{"X-Azure-Functions-InvocationId": about.InvocationID, "X-Azure-Functions-HostVersion": c.spec.HostVersion} {
		h.Del(name)
		h[name] = []string{value}
	}
}

// send sends a request about an attempt and reads the answer.
func (c *conn) send(req *http.Request, about *call.Request) (*answer, error) {
	c.name(req.Header, about)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it closed the connection without an answer")
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.spec.MaxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	if int64(len(body)) > c.spec.MaxAnswer {
		return nil, fmt.Errorf("its answer has more than %d bytes", c.spec.MaxAnswer)
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// Child implements process.Conn.
func (c *conn) Child() *process.Child { return c.child }

// HangUp implements process.Conn.
func (c *conn) HangUp() {
	c.transport.CloseIdleConnections()
	c.server.Close()
}

// Wait implements process.Conn. Connections have no readers beside the calls.
func (c *conn) Wait() {}

// Bye implements process.Conn. There is no message for it: the process is killed.
func (c *conn) Bye() {}

// Release implements process.Conn.
func (c *conn) Release() { c.HangUp() }

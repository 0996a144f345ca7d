package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

// defaultPort is the platform's own (spec host-and-retry 12.1).
const defaultPort = 7071

// target says which running host a command is for.
type target struct {
	dir  string
	port int
}

// addTarget adds --dir and --port to a command that talks to a running host.
func addTarget(cmd *cobra.Command, t *target) {
	cmd.Flags().StringVarP(&t.dir, "dir", "C", "", "folder of the app that runs (default: this folder or one above it)")
	cmd.Flags().IntVarP(&t.port, "port", "p", 0, "port of the host, instead of looking for the app")
}

// client talks to the control API of a running host.
type client struct {
	base string // "http://localhost:7071"
	key  string // master key, when the app has one
	dir  string // folder of the app, when it led here
	http *http.Client

	info   runInfo // of the host that runs the app in dir: it has to prove that it is this one
	proved bool
}

// find returns a client for the host that t means: the one at --port, the one
// that runs the app in --dir, else the one that runs the app in this folder or
// in one above it, else, when there is no app, the one at the default port: a
// command in an app's folder never reaches the host of another app.
func (t target) find() (*client, error) {
	if t.port < 0 || t.port > 65535 {
		return nil, &usageError{fmt.Errorf("--port %d: want a number from 1 to 65535", t.port)}
	}
	if t.port != 0 {
		c := newClient("http://localhost:" + strconv.Itoa(t.port))
		if t.dir == "" {
			return c, nil
		}
		base := c.base
		if c, err := clientFor(t.dir); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				c.base = base
			}
			return c, err
		}
		return nil, noHost(t.dir)
	}
	if t.dir != "" {
		dir, err := appDir([]string{t.dir})
		if err != nil {
			return nil, err
		}
		c, err := clientFor(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noHost(t.dir)
		}
		return c, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c, dir, err := hostAbove(here)
	switch {
	case c != nil || err != nil:
		return c, err
	case dir == "":
		return newClient("http://localhost:" + strconv.Itoa(defaultPort)), nil
	}
	if rel, err := filepath.Rel(here, dir); err == nil {
		dir = rel
	}
	return nil, noHost(dir)
}

// hostAbove returns a client for the host that runs the app in the folder here, or in the
// first folder above that holds one, and the folder of the app: without a client it does
// not run, and an empty folder means that there is no app.
func hostAbove(here string) (c *client, app string, err error) {
	for dir := here; ; dir = filepath.Dir(dir) {
		_, err := readRun(dir)
		if err == nil && owned(dir) {
			c, err = clientFor(dir)
			return c, dir, err
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, dir, err
		}
		if _, missing := os.Stat(filepath.Join(dir, "host.json")); err == nil || missing == nil {
			return nil, dir, nil
		}
		if dir == filepath.Dir(dir) {
			return nil, "", nil
		}
	}
}

// noHost says that the app in dir does not run: by its whole path, since it is often
// another folder than the one that was meant.
func noHost(dir string) error {
	whole, err := filepath.Abs(dir)
	if err != nil {
		whole = dir
	}
	return hinted(fmt.Errorf("no host runs the app in %q", whole), commandFor("start", dir))
}

// clientFor returns a client for the host that runs the app in dir, by its run
// file. The error is fs.ErrNotExist when there is no such file. One without an owner
// was left by a host that was killed.
func clientFor(dir string) (*client, error) {
	info, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if !owned(dir) {
		return nil, noHost(short(dir))
	}
	c := newClient(info.Address)
	c.http.Transport.(*http.Transport).DialContext = dialIPv4Localhost
	c.dir, c.info, c.key = dir, info, web.MasterKey(web.KeysFile(dir))
	return c, nil
}

// dialIPv4Localhost connects to 127.0.0.1 where localhost is named: by that name a
// run file means a host that listens there. The same port of ::1 may belong to
// another user, who could pass the challenge on to the host, and would then be sent
// the key.
func dialIPv4Localhost(ctx context.Context, network, address string) (net.Conn, error) {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "localhost" {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func newClient(base string) *client {
	// The host is on this machine: a proxy has no part in it.
	return &client{base: base, http: &http.Client{
		Transport:     &http.Transport{Proxy: nil, ExpectContinueTimeout: time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would take the key along
	}}
}

// ask asks for an operation, after edit has changed the request. The answer is a
// success.
func (c *client) ask(ctx context.Context, in any, edit ...func(*http.Request)) (*http.Response, error) {
	req, err := ops.NewRequest(ctx, c.base, in)
	if err != nil {
		return nil, err
	}
	if err := c.recognise(ctx); err != nil {
		return nil, err
	}
	for _, e := range edit {
		e(req)
	}
	resp, err := c.request(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refused(resp)
}

// call asks for an operation and reads the answer.
func call[Out any](ctx context.Context, c *client, in ops.Request[Out], edit ...func(*http.Request)) (out Out, err error) {
	err = c.read(ctx, in, &out, edit...)
	return out, err
}

// read is call with a place for the answer.
func (c *client) read(ctx context.Context, in, out any, edit ...func(*http.Request)) error {
	resp, err := c.ask(ctx, in, edit...)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, none := out.(*ops.None); none {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("answer of %s: %w", c.base, err)
	}
	return nil
}

// recognise makes sure that the server is the host that runs the app in dir, before
// it sends a key or a command: another process may have the port by now.
func (c *client) recognise(ctx context.Context) error {
	if c.dir == "" || c.proved {
		return nil
	}
	challenge, key := run.Identify{Challenge: newSecret()}, c.key
	c.key = ""
	defer func() { c.key = key }()
	req, err := ops.NewRequest(ctx, c.base, challenge)
	if err != nil {
		return err
	}
	resp, err := c.request(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var who run.Identity
	err = json.NewDecoder(io.LimitReader(resp.Body, mostInput)).Decode(&who)
	if resp.StatusCode != http.StatusOK || err != nil || !who.Proves(c.info.Secret, challenge) {
		return hinted(fmt.Errorf("the server at %s is not the host that runs the app in %q", c.base, short(c.dir)),
			"end that host with Ctrl+C and start it again, or name the right one with --port alone")
	}
	c.proved = true
	return nil
}

// request makes one request to the host, with the key.
func (c *client) request(req *http.Request) (*http.Response, error) {
	if c.key != "" {
		req.Header.Set("X-Functions-Key", c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		var body *bodyError
		if errors.As(err, &body) {
			return nil, body.err
		}
		return nil, c.unreachable(err)
	}
	if _, ours := resp.Header[web.VersionHeader]; !ours { // it may be anything that has the port
		resp.Body.Close()
		return nil, hinted(fmt.Errorf("the server at %s is not a redeliver host", c.base), "name the app with --dir or the host with --port")
	}
	return resp, nil
}

// segment refuses names that cannot be a segment of a path, so that they never reach a
// host: rule says what is wrong with them.
func segment(name string, rule func(name string) error) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		if err := rule(name); err != nil {
			return &usageError{err}
		}
	}
	return nil
}

// unreachable is an error of a connection in short. Only where nobody listens there is no
// host.
func (c *client) unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return hinted(&unreachableError{fmt.Errorf("no host answers at %s", c.base)}, `start one with "redeliver start", or name the app with --dir or the host with --port`)
	}
	var wrapped *url.Error // names method and address
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return hinted(&unreachableError{fmt.Errorf("the host at %s did not answer: %w", c.base, err)}, "something listens there: ask again; what the host says stands in its log")
}

// unreachableError says that there was no answer.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// bodyError says that the body of a request could not be read; the host is not at
// fault.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// refused turns an answer that is no success into an error.
func (c *client) refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	var body ops.Error
	if json.Unmarshal(text, &body) == nil && body.Text != "" {
		return hinted(errors.New(body.Text), body.Hint)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return hinted(fmt.Errorf("the host at %s asks for the master key", c.base), "name the app's folder with --dir: the command then uses its keys")
	case http.StatusNotFound:
		return hinted(fmt.Errorf("the host at %s does not know this command", c.base), "are host and program of the same version?")
	}
	return fmt.Errorf("the host at %s answered %s", c.base, resp.Status)
}

// mostInput limits the input of one request, above the host's own limit: so the
// host refuses a larger input.
const mostInput = 1<<20 + 1

// body is the argument, or the standard input for "-".
func body(std streams, args []string) ([]byte, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if args[0] == "-" {
		in, err := io.ReadAll(io.LimitReader(std.in, mostInput))
		if err != nil {
			return nil, fmt.Errorf("cannot read the standard input: %w", reason(err))
		}
		return in, nil
	}
	return []byte(args[0]), nil
}

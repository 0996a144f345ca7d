package remote

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

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

// DefaultPort is the platform's own (spec host-and-retry 12.1).
const DefaultPort = 7071

// MasterKeyVariable has the master key of a host: a host takes it for its own, and a command
// that names a port sends it there.
const MasterKeyVariable = "REDELIVER_MASTER_KEY"

// Target says which running host a command is for.
type Target struct {
	Dir  string
	Port int
}

// addTarget adds --dir and --port to a command that talks to a running host.
func addTarget(cmd *cobra.Command, t *Target) {
	cmd.Flags().StringVarP(&t.Dir, "dir", "C", "", "folder of the app that runs (default: this folder or one above it)")
	cmd.Flags().IntVarP(&t.Port, "port", "p", 0, "port of the host, instead of looking for the app")
}

// Client talks to the control API of a running host.
type Client struct {
	Base string // "http://localhost:7071"
	key  string // master key, when the app has one
	Dir  string // folder of the app, when it led here
	HTTP *http.Client

	Info   RunInfo // of the host that runs the app in dir: it has to prove that it is this one
	proved bool
}

// Find returns a client for the host that t means: the one at --port, the one
// that runs the app in --dir, else the one that runs the app in this folder or
// in one above it, else, when there is no app, the one at the default port: a
// command in an app's folder never reaches the host of another app.
func (t Target) Find() (*Client, error) {
	if t.Port < 0 || t.Port > 65535 {
		return nil, cli.Misused(fmt.Errorf("--port %d: want a number from 1 to 65535", t.Port))
	}
	if t.Port != 0 {
		c := NewClient("http://localhost:" + strconv.Itoa(t.Port))
		if t.Dir == "" {
			c.key = os.Getenv(MasterKeyVariable) // whoever names the port says who it is for
			return c, nil
		}
		base := c.Base
		if c, err := clientFor(t.Dir); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				c.Base = base
			}
			return c, err
		}
		return nil, noHost(t.Dir)
	}
	if t.Dir != "" {
		dir, err := AppDir([]string{t.Dir})
		if err != nil {
			return nil, err
		}
		c, err := clientFor(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noHost(t.Dir)
		}
		return c, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c, dir, err := HostAbove(here)
	switch {
	case c != nil || err != nil:
		return c, err
	case dir == "":
		return NewClient("http://localhost:" + strconv.Itoa(DefaultPort)), nil
	}
	if rel, err := filepath.Rel(here, dir); err == nil {
		dir = rel
	}
	return nil, noHost(dir)
}

// HostAbove returns a client for the host that runs the app in the folder here, or in the
// first folder above that holds one, and the folder of the app: without a client it does
// not run, and an empty folder means that there is no app.
func HostAbove(here string) (c *Client, app string, err error) {
	for dir := here; ; dir = filepath.Dir(dir) {
		_, err := ReadRun(dir)
		if err == nil && Owned(dir) {
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
	return cli.Hinted(fmt.Errorf("no host runs the app in %q", whole), cli.CommandFor("start", dir))
}

// clientFor returns a client for the host that runs the app in dir, by its run
// file. The error is fs.ErrNotExist when there is no such file. One without an owner
// was left by a host that was killed.
func clientFor(dir string) (*Client, error) {
	info, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	if !Owned(dir) {
		return nil, noHost(cli.Short(dir))
	}
	c := NewClient(info.Address)
	c.HTTP.Transport.(*http.Transport).DialContext = dialIPv4Localhost
	c.Dir, c.Info, c.key = dir, info, web.MasterKey(web.KeysFile(dir))
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

// NewClient returns a client for the host at base, such as "http://localhost:7071".
func NewClient(base string) *Client {
	// The host is on this machine: a proxy has no part in it.
	return &Client{Base: base, HTTP: &http.Client{
		Transport:     &http.Transport{Proxy: nil, ExpectContinueTimeout: time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would take the key along
	}}
}

// Ask asks for an operation, after edit has changed the request. The answer is a
// success.
func (c *Client) Ask(ctx context.Context, in any, edit ...func(*http.Request)) (*http.Response, error) {
	req, err := ops.NewRequest(ctx, c.Base, in)
	if err != nil {
		return nil, err
	}
	if err := c.Recognise(ctx); err != nil {
		return nil, err
	}
	for _, e := range edit {
		e(req)
	}
	resp, err := c.Request(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.Refused(resp)
}

// Call asks for an operation and reads the answer.
func Call[Out any](ctx context.Context, c *Client, in ops.Request[Out], edit ...func(*http.Request)) (out Out, err error) {
	err = c.Read(ctx, in, &out, edit...)
	return out, err
}

// Read is Call with a place for the answer.
func (c *Client) Read(ctx context.Context, in, out any, edit ...func(*http.Request)) error {
	resp, err := c.Ask(ctx, in, edit...)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, none := out.(*ops.None); none || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("answer of %s: %w", c.Base, err)
	}
	return nil
}

// Recognise makes sure that the server is the host that runs the app in dir, before
// it sends a key or a command: another process may have the port by now.
func (c *Client) Recognise(ctx context.Context) error {
	if c.Dir == "" || c.proved {
		return nil
	}
	challenge, key := run.Identify{Challenge: NewSecret()}, c.key
	c.key = ""
	defer func() { c.key = key }()
	req, err := ops.NewRequest(ctx, c.Base, challenge)
	if err != nil {
		return err
	}
	resp, err := c.Request(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var who run.Identity
	err = json.NewDecoder(io.LimitReader(resp.Body, MostInput)).Decode(&who)
	if resp.StatusCode != http.StatusOK || err != nil || !who.Proves(c.Info.Secret, challenge) {
		return cli.Hinted(fmt.Errorf("the server at %s is not the host that runs the app in %q", c.Base, cli.Short(c.Dir)),
			"end that host with Ctrl+C and start it again, or name the right one with --port alone")
	}
	c.proved = true
	return nil
}

// Request makes one request to the host, with the key.
func (c *Client) Request(req *http.Request) (*http.Response, error) {
	if c.key != "" {
		req.Header.Set("X-Functions-Key", c.key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		var body *BodyError
		if errors.As(err, &body) {
			return nil, body.Err
		}
		return nil, c.Unreachable(err)
	}
	if _, ours := resp.Header[web.VersionHeader]; !ours { // it may be anything that has the port
		resp.Body.Close()
		return nil, cli.Hinted(fmt.Errorf("the server at %s is not a redeliver host", c.Base), "name the app with --dir or the host with --port")
	}
	return resp, nil
}

// Segment refuses names that cannot be a segment of a path, so that they never reach a
// host: rule says what is wrong with them.
func Segment(name string, rule func(name string) error) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		if err := rule(name); err != nil {
			return cli.Misused(err)
		}
	}
	return nil
}

// Unreachable is an error of a connection in short. Only where nobody listens there is no
// host.
func (c *Client) Unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return cli.Hinted(&UnreachableError{fmt.Errorf("no host answers at %s", c.Base)}, `start one with "redeliver start", or name the app with --dir or the host with --port`)
	}
	var wrapped *url.Error // names method and address
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return cli.Hinted(&UnreachableError{fmt.Errorf("the host at %s did not answer: %w", c.Base, err)}, "something listens there: ask again; what the host says stands in its log")
}

// UnreachableError says that there was no answer.
type UnreachableError struct{ err error }

func (e *UnreachableError) Error() string { return e.err.Error() }
func (e *UnreachableError) Unwrap() error { return e.err }

// BodyError says that the body of a request could not be read; the host is not at
// fault.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// Refused turns an answer that is no success into an error.
func (c *Client) Refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	var body ops.Error
	if json.Unmarshal(text, &body) == nil && body.Text != "" {
		return cli.Hinted(errors.New(body.Text), body.Hint)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return cli.Hinted(fmt.Errorf("the host at %s asks for the master key", c.Base), "name the app's folder with --dir: the command then uses its keys; for a host in a container name --port, and the key in "+MasterKeyVariable)
	case http.StatusNotFound:
		return cli.Hinted(fmt.Errorf("the host at %s does not know this command", c.Base), "are host and program of the same version?")
	}
	return fmt.Errorf("the host at %s answered %s", c.Base, resp.Status)
}

// MostInput limits the input of one request, above the host's own limit: so the
// host refuses a larger input.
const MostInput = 1<<20 + 1

// Body is the argument, or the standard input for "-".
func Body(std cli.Streams, args []string) ([]byte, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if args[0] == "-" {
		in, err := io.ReadAll(io.LimitReader(std.In, MostInput))
		if err != nil {
			return nil, fmt.Errorf("cannot read the standard input: %w", cli.Reason(err))
		}
		return in, nil
	}
	return []byte(args[0]), nil
}

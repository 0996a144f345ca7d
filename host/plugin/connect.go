package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/host/process"
)

// conn is the connection with one process of the program.
type conn struct {
	spec    Spec
	child   *process.Child
	stdout  *firstLine // nil: go-plugin has not asked for the process
	sockets *os.File   // mark of the folder that go-plugin made for sockets
	client  *goplugin.Client
	stub    functionpb.HandlerClient
	health  grpc_health_v1.HealthClient
	calling *calling
	streams context.Context // all calls hang on it
	hangUp  context.CancelFunc
}

// remote is the client that go-plugin dispenses.
type remote struct {
	stub   functionpb.HandlerClient
	health grpc_health_v1.HealthClient
}

// grpcPlugin is the host side of go-plugin's interface.
type grpcPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (grpcPlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("package functions is the handler's side")
}

func (grpcPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return remote{functionpb.NewHandlerClient(conn), grpc_health_v1.NewHealthClient(conn)}, nil
}

// connect starts the program and returns when it answers. The error is a
// *process.StartError.
func connect(ctx context.Context, spec Spec, number int) (*conn, error) {
	c := &conn{spec: spec, child: process.NewChild(ctx, spec.Spec, number)}
	log := &hclogAdapter{log: spec.Logger, name: "go-plugin"}
	c.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion:  call.ProtocolVersion,
			MagicCookieKey:   call.CookieKey,
			MagicCookieValue: call.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{call.ProtocolVersion: {call.PluginName: grpcPlugin{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     spec.StartTimeout,
		Logger:           log,
		SyncStdout:       c.child.Lines(false),
		SyncStderr:       c.child.Lines(true),
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			var err error
			if c.sockets, err = takeMark(filepath.Join(dir, mark)); err != nil {
				_ = os.RemoveAll(dir) // go-plugin leaves it
				return nil, err
			}
			r := newRunner(c.child, cmd.Env)
			c.stdout = r.stdout
			return r, nil
		},
	})
	err := c.talk()
	if err == nil {
		return c, nil
	}
	reason, hint := c.explain(err)
	serr := c.child.Failed(err, reason, hint)
	c.removeTraces()
	return nil, serr
}

// talk opens the streams of a process that go-plugin starts.
func (c *conn) talk() error {
	if _, err := c.client.Start(); err != nil {
		return err
	}
	protocol, err := c.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(call.PluginName)
	if err != nil {
		return err
	}
	r := raw.(remote)
	c.stub, c.health = r.stub, r.health
	c.streams, c.hangUp = context.WithCancel(context.Background()) //clock:outside streams live and die with the process
	_, err = c.stub.Hold(c.streams, &functionpb.HoldRequest{})
	if err == nil {
		c.calling, err = openCalls(c.streams, c.stub)
	}
	if err != nil {
		c.hangUp()
	}
	return err
}

// explain says why the process did not become ready, unless the system refused to start
// it, and what to do.
func (c *conn) explain(err error) (reason, hint string) {
	if c.stdout == nil || !c.child.Started() {
		return err.Error(), ""
	}
	first := c.stdout.text()
	switch {
	case first != "" && !isHandshake(first):
		return fmt.Sprintf("it wrote %q to its standard output before functions.Main", cut(first)),
			"write to standard error or with package log until functions.Main runs; init functions count too"
	case c.child.EndedByItself():
		return "it ended before it was ready: " + c.child.Status(),
			"the last call in its main function must be functions.Main"
	case strings.Contains(err.Error(), "timeout"):
		return fmt.Sprintf("it was not ready after %v", c.spec.StartTimeout),
			"the last call in its main function must be functions.Main; the calls before it must not take long"
	case strings.Contains(err.Error(), "API version"):
		return "it speaks another version of the protocol than this host",
			"build it with the version of the functions package that belongs to this host"
	}
	return err.Error(), ""
}

// isHandshake reports whether a line begins as go-plugin's does, "1|1|unix|".
func isHandshake(line string) bool {
	parts := strings.Split(line, "|")
	if len(parts) < 4 {
		return false
	}
	_, err1 := strconv.Atoi(parts[0])
	_, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil
}

func cut(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Child implements process.Conn.
func (c *conn) Child() *process.Child { return c.child }

// HangUp implements process.Conn.
func (c *conn) HangUp() { c.hangUp() }

// Wait implements process.Conn.
func (c *conn) Wait() { c.calling.wait() }

// Bye implements process.Conn.
func (c *conn) Bye() { c.client.Kill() }

// Release implements process.Conn.
func (c *conn) Release() { c.removeTraces() }

// removeTraces closes the connection and removes the folder of the sockets. The mark
// goes last, since others would remove the folder then; where a file cannot be removed
// while it is open, go-plugin has left the folder.
func (c *conn) removeTraces() {
	c.client.Kill()
	if c.sockets != nil {
		_ = c.sockets.Close()
		_ = os.RemoveAll(filepath.Dir(c.sockets.Name()))
	}
}

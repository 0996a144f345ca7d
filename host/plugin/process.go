package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// process is one run of the program. Its methods wait for the real world; under
// the clock they are called through Outside.
type process struct {
	spec    Spec
	number  int
	out     *output
	runner  *processRunner
	sockets *os.File // mark of the folder that go-plugin made for sockets
	client  *goplugin.Client
	stub    functionpb.HandlerClient
	health  grpc_health_v1.HealthClient
	calling *calling
	streams context.Context // all calls hang on it
	hangUp  context.CancelFunc

	// Owned by Handlers, guarded by its mutex.
	calls  int                           // in flight
	reason string                        // why the host ends it; empty: it does not
	reaped bool                          // its end has been dealt with
	naps   uint64                        // sleeps begun so far
	asleep map[uint64]context.CancelFunc // ends a sleep, by its number; one for each call at most
}

// remote is what go-plugin dispenses.
type remote struct {
	stub   functionpb.HandlerClient
	health grpc_health_v1.HealthClient
}

// grpcPlugin is the host side of go-plugin's interface.
type grpcPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (grpcPlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("package functions has the handler's side")
}

func (grpcPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return remote{functionpb.NewHandlerClient(conn), grpc_health_v1.NewHealthClient(conn)}, nil
}

// startProcess starts the program and returns when it answers. The error is a
// *StartError.
func startProcess(spec Spec, number int) (*process, error) {
	p := &process{spec: spec, number: number, out: &output{deliver: spec.Output}}
	log := &hclogAdapter{log: spec.Logger, name: "go-plugin"}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion:  call.ProtocolVersion,
			MagicCookieKey:   call.CookieKey,
			MagicCookieValue: call.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{call.ProtocolVersion: {call.PluginName: grpcPlugin{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     spec.startTimeout(),
		Logger:           log,
		SyncStdout:       &splitter{out: p.out},
		SyncStderr:       &splitter{out: p.out, stderr: true},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			var err error
			if p.sockets, err = takeMark(filepath.Join(dir, mark)); err != nil {
				_ = os.RemoveAll(dir) // go-plugin leaves it
				return nil, err
			}
			p.runner = newProcessRunner(spec, cmd.Env, p.out)
			return p.runner, nil
		},
	})
	err := p.connect()
	if err == nil {
		return p, nil
	}
	serr := p.startError(err)
	p.kill()
	p.removeTraces()
	p.out.close()
	serr.Output = p.out.tail()
	return nil, serr
}

func (p *process) connect() error {
	if _, err := p.client.Start(); err != nil {
		return err
	}
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(call.PluginName)
	if err != nil {
		return err
	}
	r := raw.(remote)
	p.stub, p.health = r.stub, r.health
	p.streams, p.hangUp = context.WithCancel(context.Background()) //clock:outside streams live and die with the process
	_, err = p.stub.Hold(p.streams, &functionpb.HoldRequest{})
	if err == nil {
		p.calling, err = openCalls(p.streams, p.stub)
	}
	if err != nil {
		p.hangUp()
	}
	return err
}

// startError explains in words why the process did not become ready.
func (p *process) startError(err error) *StartError {
	s := &StartError{Path: p.spec.Path, Err: err}
	if p.runner == nil {
		s.Reason = err.Error()
		return s
	}
	var first string
	if p.runner.cmd.Process != nil {
		first = p.runner.stdout.text()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound):
		s.Reason = "there is no such program"
		if p.spec.Dir != "" {
			s.Reason = "there is no such program, or no folder " + strconv.Quote(p.spec.Dir)
		}
	case errors.Is(err, fs.ErrPermission):
		s.Reason = "it is not executable"
		s.Hint = fmt.Sprintf("make it executable: chmod +x %s", p.spec.Path)
	case p.runner.cmd.Process == nil:
		s.Reason = fmt.Sprintf("the system cannot run it: %v", errors.Unwrap(err))
		if errors.Unwrap(err) == nil {
			s.Reason = fmt.Sprintf("the system cannot run it: %v", err)
		}
		s.Hint = fmt.Sprintf("build it for %s/%s", runtime.GOOS, runtime.GOARCH)
	case first != "" && !isHandshake(first):
		s.Reason = fmt.Sprintf("it wrote %q to its standard output before functions.Main", cut(first))
		s.Hint = "write to standard error or with package log until functions.Main runs; look into init functions too"
	case p.runner.endedByItself():
		s.Reason = "it ended before it was ready: " + p.status()
		s.Hint = "the last call in its main function must be functions.Main"
	case strings.Contains(err.Error(), "timeout"):
		s.Reason = fmt.Sprintf("it was not ready after %v", p.spec.startTimeout())
		s.Hint = "the last call in its main function must be functions.Main; what comes before must not take long"
	case strings.Contains(err.Error(), "API version"):
		s.Reason = "it speaks another version of the protocol than this host"
		s.Hint = "build it with the version of the functions package that belongs to this host"
	default:
		s.Reason = err.Error()
	}
	return s
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

// status is how the process ended, in words. Call it only after it has.
func (p *process) status() string {
	<-p.runner.done //clock:outside has ended
	if s := p.runner.status; s != nil {
		return s.String()
	}
	return "never started"
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select { //clock:outside the end of a process
	case <-p.runner.done: //clock:outside the end of a process
		return true
	default:
		return false
	}
}

// endsWithin waits up to d for the end of the process.
func (p *process) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d) //clock:outside the end of a process
	defer t.Stop()
	select { //clock:outside the end of a process
	case <-p.runner.done: //clock:outside the end of a process
		return true
	case <-t.C: //clock:outside the end of a process
		return false
	}
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	if p.runner == nil {
		return
	}
	_ = p.runner.Kill(context.Background())
	<-p.runner.done //clock:outside the end of a process
}

// stop asks the process to end, kills it after the grace or when ctx ends, and
// waits until it is gone.
func (p *process) stop(ctx context.Context) {
	kill := func() { _ = p.runner.Kill(context.Background()) }
	t := time.AfterFunc(p.spec.stopGrace(), kill) //clock:outside the grace of a process
	defer t.Stop()
	defer context.AfterFunc(ctx, kill)() //clock:outside the grace of a process
	p.client.Kill()
	kill()
	<-p.runner.done //clock:outside the end of a process
	p.release()
}

// release gives back what a process that has ended still holds.
func (p *process) release() {
	p.hangUp()
	p.removeTraces()
	p.out.close()
}

// removeTraces closes the connection and removes the folder of the sockets. The mark
// goes last, since others would remove the folder then; where a file cannot be removed
// while it is open, go-plugin has left the folder.
func (p *process) removeTraces() {
	p.client.Kill()
	if p.sockets != nil {
		_ = p.sockets.Close()
		_ = os.RemoveAll(filepath.Dir(p.sockets.Name()))
	}
}

// exit describes the end of a process that has ended.
func (p *process) exit() Exit {
	e := Exit{
		Process: Process{Number: p.number, PID: p.runner.cmd.Process.Pid},
		Code:    -1,
		Status:  p.status(),
		Planned: p.reason != "",
		Reason:  p.reason,
		Output:  p.out.tail(),
	}
	if s := p.runner.status; s != nil {
		e.Code = s.ExitCode()
	}
	return e
}

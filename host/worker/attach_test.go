//clock:outside workers that others have started, which never see the clock

package worker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// visitor is a worker in the process of the test.
type visitor struct {
	*actor
	left chan error // how its stream ended
	told bool       // that it is to leave
	asks int        // of inits and loads
}

// visit connects with a port as the worker of an ID.
func visit(t *testing.T, port *worker.Port, transport, id string, odd ...string) *visitor {
	t.Helper()
	v := &visitor{actor: &actor{odd: append(odd, transport), cancels: map[string]chan struct{}{}}, left: make(chan error, 1)}
	if transport == "grpc" {
		conn, err := grpc.NewClient("passthrough:///"+port.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(err)
		stream, err := workerpb.NewFunctionRpcClient(conn).EventStream(t.Context())
		check(err)
		v.send, v.recv = stream.Send, stream.Recv
		v.hangUp, v.dialled = func() { _ = conn.Close() }, conn
	} else {
		nc, err := net.Dial("tcp", port.Addr().String())
		check(err)
		in := bufio.NewReader(nc)
		v.hangUp = func() { _ = nc.Close() }
		v.send = func(m *message) error {
			line, err := protojson.Marshal(m)
			check(err)
			_, err = nc.Write(append(line, '\n'))
			return err
		}
		v.recv = func() (*message, error) {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			m := &message{}
			return m, protojson.Unmarshal(line, m)
		}
	}
	t.Cleanup(v.hangUp)
	v.say(&message{Content: &workerpb.StreamingMessage_StartStream{StartStream: &workerpb.StartStream{WorkerId: id}}})
	go func() {
		for {
			m, err := v.recv()
			switch {
			case err != nil:
				v.left <- err
				return
			case m.GetWorkerTerminate() != nil:
				v.told = true
				v.hangUp()
			default:
				if m.GetWorkerInitRequest() != nil || m.GetFunctionLoadRequest() != nil {
					v.asks++
				}
				v.answer(m)
			}
		}
	}()
	return v
}

// attached runs a test with a port, on both transports and both clocks.
func attached(t *testing.T, test func(b *bench, port *worker.Port, transport string)) {
	t.Helper()
	for _, transport := range []string{"grpc", "lines"} {
		onClocks(t, transport+"/", 0, func(t *testing.T, clk clock.Clock) {
			port, err := worker.OpenPort()
			check(err)
			defer port.Close()
			test(&bench{T: t, clk: clk}, port, transport)
		})
	}
}

// seated is what an attached worker is started with.
func seated(seat *worker.Seat) worker.Spec {
	return worker.Spec{Language: "node", App: os.TempDir(), Seat: seat, Spec: process.Spec{Name: "attached worker", StartTimeout: 10 * time.Second, Env: []string{"A=b"}}}
}

// An attached worker declares, loads and runs functions as a process does.
func TestAttached(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		seat := port.Seat("h1")
		if !regexp.MustCompile(`^attach:h1:[A-Z2-7]{26}$`).MatchString(seat.ID()) {
			b.Errorf("the ID is %q", seat.ID())
		}
		v := visit(b.T, port, transport, seat.ID())
		<-seat.Here()
		b.live(seated(seat), func() {
			if list, err := b.w.Functions(context.Background()); err != nil || len(list) != 3 || !b.w.InCode() {
				b.Errorf("%v, %v", list, err)
			}
			b.load()
			resp, _, err := b.invoke("Echo", bindings.StringValue("x"), nil)
			if err != nil || resp.Outputs["out"].Text != "x" {
				b.Errorf("%+v, %v", resp, err)
			}
			if _, logs, err := b.invoke("Log", bindings.StringValue("6"), nil); err != nil || len(logs) != 6 {
				b.Errorf("%d lines, %v", len(logs), err)
			}
			if resp, _, err := b.invoke("Fail", bindings.StringValue("no"), nil); err != nil || resp.Error == nil || resp.Error.Message != "no" {
				b.Errorf("%+v, %v", resp, err)
			}
			if err := b.w.Health(context.Background()); err != nil {
				b.Error(err)
			}
			if env := seat.Environment(); len(env) != 1 || env[0] != "A=b" {
				b.Errorf("environment %q", env)
			}
		})
		seat.Close()
		<-v.left
		if !v.told {
			b.Error("the worker was not told to leave")
		}
	})
}

// The connection serves one host after the other, which finds the functions as they were: some
// workers refuse to load them twice.
func TestAttachedAgain(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		seat := port.Seat("h1")
		v := visit(b.T, port, transport, seat.ID())
		for range 3 {
			b.live(seated(seat), func() {
				list, err := b.w.Functions(context.Background())
				if err != nil || len(list) != 3 {
					b.Errorf("%v, %v", list, err)
				}
				b.load()
				if _, _, err := b.invoke("Echo", bindings.StringValue("x"), nil); err != nil {
					b.Error(err)
				}
			})
		}
		seat.Close()
		if <-v.left; v.asks != 1+len(functions()) {
			b.Errorf("%d inits and loads, want 1 and one of each function", v.asks)
		}
	})
}

// A host that ends during a call leaves the worker to the next one; what that says later of
// the call is for nobody.
func TestAttachedLeftInACall(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		seat := port.Seat("h1")
		defer seat.Close()
		v := visit(b.T, port, transport, seat.ID(), "cancels")
		group := clock.NewGroup(b.clk, 0)
		b.live(seated(seat), func() {
			b.load()
			group.Go("call", func() {
				req := &call.Request{InvocationID: "hanging", Function: "Hang", Inputs: []call.Input{{Name: "in"}}}
				_, err := b.w.Invoke(context.Background(), req, func(call.Log) {
					group.Go("end", func() { _ = b.w.Close(context.Background()) })
				})
				if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Exit.Reason != "the host closed it" {
					b.Errorf("the call ended with %v", err)
				}
			})
			group.Wait()
		})
		close(v.cancelled("hanging"))
		b.live(seated(seat), func() {
			b.load()
			if resp, _, err := b.invoke("Echo", bindings.StringValue("x"), nil); err != nil || resp.Outputs["out"].Text != "x" {
				b.Errorf("%+v, %v", resp, err)
			}
		})
	})
}

// Two hosts use one worker side by side: instances of one app.
func TestAttachedToTwo(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		seat := port.Seat("h1")
		defer seat.Close()
		visit(b.T, port, transport, seat.ID())
		b.live(seated(seat), func() {
			b.load()
			other, err := worker.Start(b.clk, seated(seat))
			if err != nil {
				b.Error(err)
				return
			}
			_, err = other.Load(context.Background(), functions())
			check(err)
			second := &bench{T: b.T, clk: b.clk, w: other}
			for i, of := range []*bench{b, second, b, second} {
				id := []string{"of the first", "of the second"}[i%2]
				resp, logs, err := of.invoke("Log", bindings.StringValue("2"), func(r *call.Request) { r.InvocationID = id })
				if err != nil || resp.Error != nil || len(logs) != 2 {
					b.Errorf("%+v, %d lines, %v", resp, len(logs), err)
				}
			}
			if err := other.Close(context.Background()); err != nil {
				b.Error(err)
			}
			if _, _, err := b.invoke("Echo", bindings.StringValue("x"), nil); err != nil {
				b.Error(err)
			}
		})
	})
}

// The end of the connection is the crash of a process, in the place of which none comes:
// the call is lost, later ones fail at once, the host is told to stop.
func TestAttachedLost(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		seat := port.Seat("h1")
		defer seat.Close()
		v := visit(b.T, port, transport, seat.ID(), "cancels")
		s := seated(seat)
		var exits []process.Exit
		var stopped []string
		s.OnExit = func(e process.Exit) { exits = append(exits, e) }
		s.StopHost = func(err error) { stopped = append(stopped, err.Error()) }
		b.live(s, func() {
			b.load()
			req := &call.Request{InvocationID: "hanging", Function: "Hang", Inputs: []call.Input{{Name: "in"}}}
			_, err := b.w.Invoke(context.Background(), req, func(call.Log) { v.hangUp() })
			if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Error() != "attached worker process exited: its connection ended" {
				b.Errorf("the call ended with %v", err)
			}
			_, _, err = b.invoke("Echo", bindings.StringValue("x"), nil)
			if err == nil || err.Error() != "the attached worker process is gone: its connection ended" {
				b.Errorf("a call afterwards ended with %v", err)
			}
			if b.w.Health(context.Background()) == nil {
				b.Error("it is well")
			}
		})
		if len(exits) != 1 || exits[0].Restart >= 0 || exits[0].Planned || len(stopped) != 1 {
			b.Errorf("exits %+v, stopped %q", exits, stopped)
		}
		<-seat.Gone()
		b.refused(seat, "its connection ended")
	})
}

// refused wants a start at a seat to fail.
func (b *bench) refused(seat *worker.Seat, reason string) {
	b.Helper()
	done := make(chan struct{}) //clock:outside drives the clock from outside
	group := clock.NewGroup(b.clk, 0)
	b.clk.Inside("test", func() {
		group.Go("test", func() {
			defer close(done)
			s := seated(seat)
			s.StartTimeout = time.Millisecond
			_, err := worker.Start(b.clk, s)
			start, ok := errors.AsType[*process.StartError](err)
			if !ok || !strings.Contains(start.Reason, reason) || start.Path != "attach:h1" {
				b.Errorf("started, or failed with %v", err)
			}
		})
	})
	<-done //clock:outside drives the clock from outside
}

// Nobody is let in without an ID that is awaited, and with one only once. A start without a
// worker ends, and does not tell the secret.
func TestAttachedUninvited(t *testing.T) {
	t.Parallel()
	attached(t, func(b *bench, port *worker.Port, transport string) {
		if !port.Addr().IP.IsLoopback() {
			b.Errorf("the port is at %v", port.Addr())
		}
		seat, other := port.Seat("h1"), port.Seat("h1")
		if seat.ID() == other.ID() {
			b.Error("two seats have one ID")
		}
		b.refused(seat, "nobody has connected to 127.0.0.1:")
		turnedAway := func(id string, code codes.Code) {
			b.Helper()
			err := <-visit(b.T, port, transport, id).left
			if transport == "lines" && !errors.Is(err, io.EOF) || transport == "grpc" && status.Code(err) != code {
				b.Errorf("%q was let in, or sent away with %v", id, err)
			}
		}
		turnedAway("", codes.InvalidArgument)
		turnedAway("attach:h1", codes.InvalidArgument)
		turnedAway(seat.ID()+"x", codes.InvalidArgument)
		turnedAway(strings.ToLower(seat.ID()), codes.InvalidArgument)
		first := visit(b.T, port, transport, seat.ID())
		<-seat.Here()
		turnedAway(seat.ID(), codes.AlreadyExists)
		first.hangUp()
		<-seat.Gone()
		turnedAway(seat.ID(), codes.AlreadyExists)
		seat.Close()
		turnedAway(seat.ID(), codes.InvalidArgument)
		other.Close()
		<-other.Gone()
		b.refused(other, "the seat was closed before anybody connected")
	})
}

// A worker that does not leave when it is told to is left.
func TestAttachedLingers(t *testing.T) {
	t.Parallel()
	port, err := worker.OpenPort()
	check(err)
	defer port.Close()
	seat := port.Seat("h1")
	nc, err := net.Dial("tcp", port.Addr().String())
	check(err)
	_, err = io.WriteString(nc, `{"startStream":{"workerId":"`+seat.ID()+`"}}`+"\n")
	check(err)
	<-seat.Here()
	port.Close()
	told, err := io.ReadAll(nc)
	if err != nil || !bytes.Contains(told, []byte(`"workerTerminate"`)) {
		t.Errorf("told %q, %v", told, err)
	}
}

// Settlement beside the port is of the calls of its workers.
func TestAttachedSettles(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"grpc", "lines"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			b := &bench{T: t, clk: clock.System()}
			port, err := worker.OpenPort()
			check(err)
			defer port.Close()
			seat := port.Seat(filepath.Base(t.Name()))
			defer seat.Close()
			v := visit(t, port, transport, seat.ID())
			if v.dialled == nil {
				v.dialled, err = grpc.NewClient("passthrough:///"+port.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
				check(err)
				t.Cleanup(func() { _ = v.dialled.Close() })
			}
			b.live(seated(seat), func() {
				b.load()
				actions := &recordedActions{}
				resp, _, err := b.invoke("Settle", bindings.StringValue("Complete lock"), func(r *call.Request) { r.Actions = actions })
				if err != nil || len(actions.done) != 1 {
					t.Errorf("%+v, %v, settled %q", resp, err, actions.done)
				}
			})
		})
	}
}

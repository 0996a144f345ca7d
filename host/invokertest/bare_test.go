//clock:outside a worker that is spoken to without a host

package invokertest_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

type message = workerpb.StreamingMessage

// bare is the program's own worker for a language, spoken to over its transport and nothing
// else: the floor of what a call and a start cost.
type bare struct {
	b    *testing.B
	cmd  *exec.Cmd
	conn net.Conn

	sendMu sync.Mutex

	mu    sync.Mutex // guards:
	calls map[string]chan *message
}

// startBare starts a worker as found and has it load one queue function of a script.
func startBare(b *testing.B, found *launch.Found, dir string, env []string, script, entry string) *bare {
	b.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	w := &bare{b: b, calls: map[string]chan *message{}}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w.cmd = exec.Command(found.Path, append(found.Args[:len(found.Args):len(found.Args)],
		"--host", "127.0.0.1", "--port", port, "--workerId", "bare", "--requestId", "start", "--grpcMaxMessageLength", "2147483647",
		"--functions-uri", "http://"+l.Addr().String()+"/", "--functions-worker-id", "bare", "--functions-request-id", "start",
		"--functions-grpc-max-message-length", "2147483647")...)
	w.cmd.Dir, w.cmd.Env = dir, append(os.Environ(), env...)
	if err := w.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if w.conn, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReaderSize(w.conn, 64<<10)
	next := func() *message {
		line, err := lines.ReadBytes('\n')
		m := &message{}
		if err == nil {
			err = protojson.Unmarshal(line, m)
		}
		if err != nil {
			return nil
		}
		return m
	}
	await := func(wanted func(*message) bool) {
		for m := next(); ; m = next() {
			if m == nil {
				b.Error("the worker has ended")
				return
			}
			if wanted(m) {
				return
			}
		}
	}
	await(func(m *message) bool { return m.GetStartStream() != nil })
	w.send(&message{Content: &workerpb.StreamingMessage_WorkerInitRequest{WorkerInitRequest: &workerpb.WorkerInitRequest{
		HostVersion: "4.1037.0", FunctionAppDirectory: dir,
	}}})
	await(func(m *message) bool { return m.GetWorkerInitResponse() != nil })
	w.send(&message{Content: &workerpb.StreamingMessage_FunctionLoadRequest{FunctionLoadRequest: &workerpb.FunctionLoadRequest{
		FunctionId: "f", Metadata: &workerpb.RpcFunctionMetadata{
			Name: "Nothing", FunctionId: "f", Directory: dir, ScriptFile: script, EntryPoint: entry,
			Bindings: map[string]*workerpb.BindingInfo{"item": {Type: "queueTrigger"}},
		},
	}}})
	await(func(m *message) bool {
		r := m.GetFunctionLoadResponse()
		if e := r.GetResult().GetException(); e != nil {
			b.Errorf("load: %s", e.GetMessage())
		}
		return r != nil
	})
	go func() {
		for m := next(); m != nil; m = next() {
			if r := m.GetInvocationResponse(); r != nil {
				w.mu.Lock()
				w.calls[r.GetInvocationId()] <- m
				delete(w.calls, r.GetInvocationId())
				w.mu.Unlock()
			}
		}
	}()
	return w
}

func (w *bare) send(m *message) {
	line, err := protojson.Marshal(m)
	if err != nil {
		w.b.Error(err)
		return
	}
	w.sendMu.Lock()
	defer w.sendMu.Unlock()
	if _, err := w.conn.Write(append(line, '\n')); err != nil {
		w.b.Error(err)
	}
}

// call calls the function.
func (w *bare) call(id string) error {
	answer := make(chan *message, 1)
	w.mu.Lock()
	w.calls[id] = answer
	w.mu.Unlock()
	w.send(&message{Content: &workerpb.StreamingMessage_InvocationRequest{InvocationRequest: &workerpb.InvocationRequest{
		InvocationId: id, FunctionId: "f", InputData: []*workerpb.ParameterBinding{{
			Name: "item", RpcData: &workerpb.ParameterBinding_Data{Data: &workerpb.TypedData{Data: &workerpb.TypedData_String_{String_: `{"id":"7"}`}}},
		}},
	}}})
	if r := (<-answer).GetInvocationResponse(); r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		return fmt.Errorf("the call failed: %s", r.GetResult().GetException().GetMessage())
	}
	return nil
}

func (w *bare) end() {
	_ = w.conn.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

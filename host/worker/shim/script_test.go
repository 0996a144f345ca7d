package shim_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

const workerID = "the worker's ID"

// A script is a host that a test speaks for, and the shim that it has started.
type script struct {
	*testing.T
	cmd  *exec.Cmd
	conn net.Conn
	in   chan *workerpb.StreamingMessage // closed when the connection ends
	done chan struct{}                   // closed when the process has ended

	mu     sync.Mutex // guards:
	output strings.Builder
	kept   []*workerpb.StreamingMessage // not yet asked for
	wrote  chan struct{}                // there is more output since the last look
}

// Write takes what the process writes to its standard output and error.
func (s *script) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.wrote <- struct{}{}:
	default:
	}
	return s.output.Write(p)
}

// says waits until the process has written a text, which comes beside the connection and
// may be later than what was sent after it.
func (s *script) says(text string) bool {
	for late := time.After(patience); !strings.Contains(s.printed(), text); {
		select {
		case <-s.wrote:
		case <-s.done:
			return strings.Contains(s.printed(), text)
		case <-late:
			return false
		}
	}
	return true
}

// printed is what the process has written so far.
func (s *script) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// start starts a shim as the host does, and returns when it has said who it is. The
// environment has additions, "NAME=value".
func start(t *testing.T, one shim.Shim, app, interpreter string, env ...string) *script {
	t.Helper()
	entry, err := one.Install()
	if err != nil {
		t.Fatal(err)
	}
	return run(t, app, []string{interpreter, entry}, env...)
}

// mostVariable among the additions to an environment is the limit of a message, in bytes.
const mostVariable = "SHIM_TEST_MOST="

// run starts a shim by a command line.
func run(t *testing.T, app string, command []string, env ...string) *script {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &script{T: t, in: make(chan *workerpb.StreamingMessage, 1000), done: make(chan struct{}), wrote: make(chan struct{}, 1)}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	most := "2147483647"
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, mostVariable); ok {
			most = value
		}
	}
	s.cmd = exec.Command(command[0], append(command[1:], "--host", host, "--port", port, "--workerId", workerID, "--requestId", "start",
		"--grpcMaxMessageLength", most, "--functions-uri", "http://"+l.Addr().String()+"/", "--functions-worker-id", workerID,
		"--functions-request-id", "start", "--functions-grpc-max-message-length", most)...)
	s.cmd.Dir, s.cmd.Env = app, append(os.Environ(), env...)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.cmd.Wait(); close(s.done) }()
	t.Cleanup(s.end)
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	select {
	case s.conn = <-accepted:
	case <-s.done:
		t.Fatalf("the shim ended with %v before it connected:\n%s", s.cmd.ProcessState, s.printed())
	case <-time.After(patience):
		t.Fatalf("the shim does not connect:\n%s", s.printed())
	}
	go s.read()
	if got := s.next().GetStartStream().GetWorkerId(); got != workerID {
		t.Fatalf("the first message is of worker %q, want %q", got, workerID)
	}
	return s
}

func (s *script) read() {
	defer close(s.in)
	lines := bufio.NewReader(s.conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		m := &workerpb.StreamingMessage{}
		if err := protojson.Unmarshal(line, m); err != nil {
			s.Errorf("a line is no message: %v: %.200s", err, line)
			return
		}
		s.in <- m
	}
}

// end ends the connection, and with it the process.
func (s *script) end() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		s.Errorf("the shim outlives its connection:\n%s", s.printed())
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	if s.conn != nil {
		for range s.in { // read ends with the connection
		}
	}
	if s.Failed() {
		s.Logf("the shim wrote:\n%s", s.printed())
	}
}

// exited waits for the end of the process and returns its code.
func (s *script) exited() int {
	s.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.Fatalf("the shim does not end")
	}
	return s.cmd.ProcessState.ExitCode()
}

// raw sends a line as it is.
func (s *script) raw(line string) {
	s.Helper()
	if _, err := s.conn.Write([]byte(line + "\n")); err != nil {
		s.Fatal(err)
	}
}

// send sends a message as the host writes it.
func (s *script) send(m *workerpb.StreamingMessage) {
	s.Helper()
	line, err := protojson.MarshalOptions{EmitDefaultValues: m.GetInvocationRequest() == nil}.Marshal(m)
	if err != nil {
		s.Fatal(err)
	}
	s.raw(string(line))
}

// next is the next message of the shim.
func (s *script) next() *workerpb.StreamingMessage {
	s.Helper()
	select {
	case m, ok := <-s.in:
		if !ok {
			s.Fatalf("the connection has ended:\n%s", s.printed())
		}
		return m
	case <-time.After(patience):
		s.Fatalf("the shim says nothing:\n%s", s.printed())
	}
	return nil
}

// await returns the first message that a test wants, and keeps the others.
func (s *script) await(wanted func(*workerpb.StreamingMessage) bool) *workerpb.StreamingMessage {
	s.Helper()
	for i, m := range s.kept {
		if wanted(m) {
			s.kept = append(s.kept[:i:i], s.kept[i+1:]...)
			return m
		}
	}
	for {
		m := s.next()
		if wanted(m) {
			return m
		}
		s.kept = append(s.kept, m)
	}
}

// logs takes the lines of user code that have come so far, "id level category: message".
func (s *script) logs() (lines []string) {
	rest := s.kept[:0]
	for _, m := range s.kept {
		if l := m.GetRpcLog(); l != nil && l.GetLogCategory() == workerpb.RpcLog_User {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", l.GetInvocationId(), l.GetLevel(), l.GetCategory(), l.GetMessage()))
			continue
		}
		rest = append(rest, m)
	}
	s.kept = rest
	return lines
}

// init asks the shim what it can do.
func (s *script) init(app string) *workerpb.WorkerInitResponse {
	s.Helper()
	s.send(&workerpb.StreamingMessage{RequestId: "start", Content: &workerpb.StreamingMessage_WorkerInitRequest{WorkerInitRequest: &workerpb.WorkerInitRequest{
		HostVersion: "4.0", Capabilities: map[string]string{"MultiStream": "10"}, FunctionAppDirectory: app,
	}}})
	return s.await(func(m *workerpb.StreamingMessage) bool { return m.GetWorkerInitResponse() != nil }).GetWorkerInitResponse()
}

// functions asks for the functions that the app declares in code.
func (s *script) functions(app string) *workerpb.FunctionMetadataResponse {
	s.Helper()
	s.send(&workerpb.StreamingMessage{RequestId: "start", Content: &workerpb.StreamingMessage_FunctionsMetadataRequest{
		FunctionsMetadataRequest: &workerpb.FunctionsMetadataRequest{FunctionAppDirectory: app},
	}})
	return s.await(func(m *workerpb.StreamingMessage) bool { return m.GetFunctionMetadataResponse() != nil }).GetFunctionMetadataResponse()
}

// load loads a function.
func (s *script) load(id string, metadata *workerpb.RpcFunctionMetadata) *workerpb.StatusResult {
	s.Helper()
	metadata.FunctionId = id
	s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_FunctionLoadRequest{FunctionLoadRequest: &workerpb.FunctionLoadRequest{
		FunctionId: id, Metadata: metadata,
	}}})
	return s.await(func(m *workerpb.StreamingMessage) bool {
		return m.GetFunctionLoadResponse() != nil && m.GetFunctionLoadResponse().GetFunctionId() == id
	}).GetFunctionLoadResponse().GetResult()
}

// begin starts an invocation; its ID is made of a number when the request has none.
func (s *script) begin(number int, r *workerpb.InvocationRequest) string {
	s.Helper()
	if r.InvocationId == "" {
		r.InvocationId = "call-" + strconv.Itoa(number)
	}
	if r.TraceContext == nil {
		r.TraceContext = &workerpb.RpcTraceContext{}
	}
	s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_InvocationRequest{InvocationRequest: r}})
	return r.InvocationId
}

// ended waits for the answer to an invocation.
func (s *script) ended(id string) *workerpb.InvocationResponse {
	s.Helper()
	return s.await(func(m *workerpb.StreamingMessage) bool {
		return m.GetInvocationResponse() != nil && m.GetInvocationResponse().GetInvocationId() == id
	}).GetInvocationResponse()
}

// invoke is an invocation from begin to end.
func (s *script) invoke(r *workerpb.InvocationRequest) *workerpb.InvocationResponse {
	s.Helper()
	return s.ended(s.begin(1, r))
}

// status asks whether the shim is well.
func (s *script) status() {
	s.Helper()
	s.send(&workerpb.StreamingMessage{RequestId: "status", Content: &workerpb.StreamingMessage_WorkerStatusRequest{WorkerStatusRequest: &workerpb.WorkerStatusRequest{}}})
	s.await(func(m *workerpb.StreamingMessage) bool {
		return m.GetWorkerStatusResponse() != nil && m.GetRequestId() == "status"
	})
}

// command runs a program that answers a question, such as where an interpreter is.
func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
